//! The attributes that stored values can have, read from the sources of their types: a value does not tell what it lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Field, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Token, Type};

/// Stands for names that are data, such as identifiers and languages.
const ANY_NAME: &str = "…";
/// Types with one argument whose values are stored as that argument's.
const TRANSPARENT: [&str; 5] = ["Arc", "BTreeSet", "Box", "Option", "Vec"];
/// Types of other crates whose values have no attributes, or none that are known.
const PLAIN: [&str; 13] = [
    "DateTime",
    "NaiveDate",
    "String",
    "Value",
    "bool",
    "f64",
    "i64",
    "str",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
];

/// The attributes that values of a type can have.
#[derive(Debug, Default, Clone)]
pub(super) struct Shape {
    /// Whether a value can be a text, a number, a truth value, or a list of these.
    is_plain: bool,
    attributes: BTreeMap<String, Self>,
}

impl Shape {
    fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }

    fn of_attribute(name: String, shape: Self) -> Self {
        Self { is_plain: false, attributes: BTreeMap::from([(name, shape)]) }
    }

    /// Plain values with these names.
    pub(super) fn of_names<const N: usize>(names: [&str; N]) -> Self {
        Self { is_plain: false, attributes: names.map(|name| (name.to_owned(), Self::plain())).into() }
    }

    fn merge(&mut self, other: Self) {
        self.is_plain |= other.is_plain;
        for (name, shape) in other.attributes {
            self.attributes.entry(name).or_default().merge(shape);
        }
    }

    /// Removes an attribute. A dot leads into an attribute.
    pub(super) fn remove(&mut self, path: &str) {
        let removed = match path.split_once('.') {
            None => self.attributes.remove(path).is_some(),
            Some((first, rest)) => self.attributes.get_mut(first).map(|inner| inner.remove(rest)).is_some(),
        };
        assert!(removed, "there is no attribute {path}");
    }

    /// The paths of all attributes with a plain value.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        self.add_paths("", &mut paths);
        paths
    }

    fn add_paths(&self, path: &str, paths: &mut BTreeSet<String>) {
        if self.is_plain {
            paths.insert(path.to_owned());
        }
        for (name, shape) in &self.attributes {
            shape.add_paths(&below(path, name), paths);
        }
    }

    /// Adds the paths of all attributes that `value` has to `found`. An empty text is no value.
    pub(super) fn find(&self, value: &Value, found: &mut BTreeSet<String>) {
        self.find_below("", value, found);
    }

    fn find_below(&self, path: &str, value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(members) => members.iter().for_each(|member| self.find_below(path, member, found)),
            Value::Object(members) if !self.attributes.is_empty() => {
                for (name, member) in members {
                    let known = self.attributes.get_key_value(name);
                    let known = known.or_else(|| self.attributes.get_key_value(ANY_NAME));
                    let (name, shape) = known.unwrap_or_else(|| panic!("no type has {path}.{name}"));
                    shape.find_below(&below(path, name), member, found);
                }
            }
            _ => {
                assert!(self.is_plain, "no type has a plain {path}");
                found.insert(path.to_owned());
            }
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The types that some folders of this repository declare.
pub(super) struct StoredTypes {
    declared: BTreeMap<String, Item>,
    /// The names that are declared more than once.
    ambiguous: BTreeSet<String>,
    /// Names and identifiers, which macros declare.
    plain: BTreeSet<String>,
}

impl StoredTypes {
    pub(super) fn declared_in(folders: &[&str]) -> Self {
        let (declared, ambiguous, plain) = Default::default();
        let mut types = Self { declared, ambiguous, plain };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for folder in folders {
            for source in sources_below(&root.join(folder)) {
                let source = syn::parse_file(&fs::read_to_string(source).unwrap()).unwrap();
                source.items.into_iter().for_each(|item| types.add(item));
            }
        }
        types
    }

    fn add(&mut self, item: Item) {
        let name = match &item {
            Item::Struct(declared) => declared.ident.to_string(),
            Item::Enum(declared) => declared.ident.to_string(),
            Item::Type(declared) => declared.ident.to_string(),
            Item::Macro(declared) => {
                let tokens = declared.mac.tokens.to_string();
                let words: Vec<&str> = tokens.split_whitespace().collect();
                self.plain.extend(words.windows(2).filter_map(|pair| match pair {
                    ["enum", name] if declared.mac.path.is_ident("named") => Some((*name).to_owned()),
                    [name, "of"] if declared.mac.path.is_ident("ids") => Some((*name).to_owned()),
                    _ => None,
                }));
                return;
            }
            _ => return,
        };
        if self.declared.insert(name.clone(), item).is_some() {
            self.ambiguous.insert(name);
        }
    }

    /// The attributes of values of the type with this name.
    pub(super) fn shape_of(&self, name: &str) -> Shape {
        assert!(!self.ambiguous.contains(name), "there are several types {name}");
        match self.declared.get(name) {
            _ if PLAIN.contains(&name) || self.plain.contains(name) => Shape::plain(),
            Some(Item::Type(alias)) => self.shape(&alias.ty),
            // A type that writes its own `Serialize` is stored as a text or a number.
            Some(Item::Struct(declared)) if !is_derived(&declared.attrs) => Shape::plain(),
            Some(Item::Enum(declared)) if !is_derived(&declared.attrs) => Shape::plain(),
            Some(Item::Struct(declared)) => match serde_value(&declared.attrs, "try_from") {
                Some(stored_as) => self.shape_of(&stored_as),
                None => self.shape_of_fields(&declared.fields, &declared.attrs),
            },
            Some(Item::Enum(declared)) => {
                let tag = serde_value(&declared.attrs, "tag");
                let is_untagged = has_serde(&declared.attrs, "untagged");
                let mut shape = Shape::default();
                if let Some(tag) = &tag {
                    shape.attributes.insert(tag.clone(), Shape::plain());
                }
                for variant in &declared.variants {
                    let content = self.shape_of_fields(&variant.fields, &[]);
                    match &variant.fields {
                        Fields::Unit if tag.is_some() => {}
                        Fields::Unit => shape.is_plain = true,
                        _ if tag.is_some() || is_untagged => shape.merge(content),
                        _ => {
                            let name = renamed(&declared.attrs, &variant.ident.to_string());
                            shape.merge(Shape::of_attribute(name, content));
                        }
                    }
                }
                shape
            }
            _ => panic!("the source of the type {name} is not read"),
        }
    }

    fn shape_of_fields(&self, fields: &Fields, attributes: &[Attribute]) -> Shape {
        let mut shape = Shape::default();
        match fields {
            Fields::Unit => {}
            Fields::Unnamed(fields) => {
                fields.unnamed.iter().for_each(|field| shape.merge(self.shape_of_field(field)));
            }
            Fields::Named(fields) => {
                for field in fields.named.iter().filter(|field| !has_serde(&field.attrs, "skip")) {
                    let name = field.ident.as_ref().unwrap().to_string();
                    assert!(serde_value(attributes, "rename_all").is_none(), "{name} has another name");
                    let content = self.shape_of_field(field);
                    if has_serde(&field.attrs, "flatten") || has_serde(attributes, "transparent") {
                        shape.merge(content);
                    } else {
                        let name = serde_value(&field.attrs, "rename").unwrap_or(name);
                        shape.merge(Shape::of_attribute(name, content));
                    }
                }
            }
        }
        shape
    }

    fn shape_of_field(&self, field: &Field) -> Shape {
        if serde_value(&field.attrs, "with").is_some() { Shape::plain() } else { self.shape(&field.ty) }
    }

    fn shape(&self, declared: &Type) -> Shape {
        let path = match declared {
            Type::Path(declared) => &declared.path,
            Type::Array(declared) => return self.shape(&declared.elem),
            Type::Reference(declared) => return self.shape(&declared.elem),
            _ => panic!("a type that is neither named nor an array"),
        };
        let last = path.segments.last().unwrap();
        let name = last.ident.to_string();
        let mut arguments = Vec::new();
        if let PathArguments::AngleBracketed(generic) = &last.arguments {
            arguments.extend(generic.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(argument) => Some(argument),
                _ => None,
            }));
        }
        match (name.as_str(), arguments.as_slice()) {
            ("BTreeMap", [_, value]) => Shape::of_attribute(ANY_NAME.to_owned(), self.shape(value)),
            (name, [inner]) if TRANSPARENT.contains(&name) => self.shape(inner),
            (name, _) => self.shape_of(name),
        }
    }
}

fn sources_below(folder: &Path) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

/// Whether the type is stored as serde derives it.
fn is_derived(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let mut derived = derives.flat_map(|derive| {
        let parser = Punctuated::<syn::Path, Token![,]>::parse_terminated;
        parser.parse2(derive.meta.require_list().unwrap().tokens.clone()).unwrap()
    });
    derived.any(|path| path.segments.last().unwrap().ident == "Serialize")
}

/// The options in the attributes of serde, each with its text.
fn serde_options(attributes: &[Attribute]) -> Vec<(String, Option<String>)> {
    let mut options = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        for option in parser.parse2(attribute.meta.require_list().unwrap().tokens.clone()).unwrap() {
            let text = match &option {
                Meta::NameValue(option) => match &option.value {
                    Expr::Lit(value) => match &value.lit {
                        Lit::Str(text) => Some(text.value()),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            options.push((option.path().get_ident().unwrap().to_string(), text));
        }
    }
    options
}

fn serde_value(attributes: &[Attribute], name: &str) -> Option<String> {
    serde_options(attributes).into_iter().find_map(|(option, text)| (option == name).then_some(text)?)
}

fn has_serde(attributes: &[Attribute], name: &str) -> bool {
    serde_options(attributes).iter().any(|(option, _)| option == name)
}

/// The name of a variant of an enum with these attributes.
fn renamed(attributes: &[Attribute], variant: &str) -> String {
    assert_eq!(serde_value(attributes, "rename_all").as_deref(), Some("kebab-case"), "{variant}");
    let mut name = String::new();
    for character in variant.chars() {
        if character.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(character.to_lowercase());
    }
    name
}
