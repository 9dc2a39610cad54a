//! Modules depend on each other in one direction, as `shared/README.md` states it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Item, UseTree};

use crate::suites::{root, sources};

/// Crates, and folders of them inside which no two files need each other, not even by others between them.
fn rooms() -> Vec<(PathBuf, &'static [&'static str])> {
    let functions = std::fs::read_dir(root().join("functions")).unwrap();
    let functions = functions.map(|entry| entry.unwrap().path().join("src")).filter(|path| path.is_dir());
    let shared: [(&str, &[&str]); 2] =
        [("shared/domain/src", &[""]), ("shared/src", &["archive", "auth", "http", "store"])];
    let shared = shared.map(|(crate_folder, rooms)| (root().join(crate_folder), rooms));
    shared.into_iter().chain(functions.map(|crate_folder| (crate_folder, &[""][..]))).collect()
}

/// The files of a crate by their module paths, such as `["store", "table", "keys"]`.
type Modules = BTreeMap<Vec<String>, PathBuf>;

/// The files that each file imports from.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

fn modules(crate_folder: &Path) -> Modules {
    let module = |file: PathBuf| {
        let inside = file.strip_prefix(crate_folder).unwrap().with_extension("");
        let mut path: Vec<_> = inside.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        if path.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
            path.pop();
        }
        (path, file)
    };
    sources(crate_folder).into_iter().map(module).collect()
}

/// The paths that a tree of imports names.
fn named(tree: &UseTree, before: &[String], paths: &mut Vec<Vec<String>>) {
    let extended = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => named(&path.tree, &extended(&path.ident), paths),
        UseTree::Name(name) => paths.push(extended(&name.ident)),
        UseTree::Rename(rename) => paths.push(extended(&rename.ident)),
        UseTree::Glob(_) => paths.push(before.to_vec()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| named(tree, before, paths)),
    }
}

/// The imports of a module, as paths from the root of its crate. Those of other crates and of tests are left out.
fn imported(module: &[String], file: &Path) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for item in syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap().items {
        if let Item::Use(import) = item {
            named(&import.tree, &[], &mut paths);
        }
    }
    let from_root = |path: Vec<String>| {
        let ups = path.iter().take_while(|name| *name == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len() - ups], &path[ups..]].concat()),
            // The name of a module below this one.
            _ => Some([module, &path].concat()),
        }
    };
    paths.into_iter().filter_map(from_root).collect()
}

/// The imports among the files of a crate. What a module exports again belongs to it. What a part takes from the module that it
/// belongs to does not count: both are read together.
fn imports(crate_folder: &Path) -> Imports {
    let modules = modules(crate_folder);
    let owner =
        |path: &[String]| (1..=path.len()).rev().find_map(|length| modules.get_key_value(&path[..length]));
    let of = |(module, file): (&Vec<String>, &PathBuf)| {
        let others = imported(module, file).into_iter().filter_map(|path| {
            let (other, file) = owner(&path)?;
            (!module.starts_with(other)).then(|| file.clone())
        });
        (file.clone(), others.collect())
    };
    modules.iter().map(of).collect()
}

/// The files that `from` needs, itself only if it is in a circle.
fn needed<'a>(imports: &'a Imports, from: &'a Path) -> BTreeSet<&'a Path> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        for other in imports.get(file).into_iter().flatten() {
            if found.insert(other.as_path()) {
                next.push(other);
            }
        }
    }
    found
}

#[test]
fn no_files_of_a_room_need_each_other() {
    let mut circles = Vec::new();
    for (crate_folder, rooms) in rooms() {
        let all = imports(&crate_folder);
        for room in rooms.iter().map(|room| crate_folder.join(room)) {
            let inside = |file: &&PathBuf| file.starts_with(&room);
            let of_room = all.iter().filter(|(file, _)| inside(file));
            let of_room: Imports = of_room
                .map(|(file, others)| (file.clone(), others.iter().filter(inside).cloned().collect()))
                .collect();
            let in_circle = of_room.keys().filter(|file| needed(&of_room, file).contains(file.as_path()));
            circles.extend(in_circle.map(|file| file.strip_prefix(root()).unwrap().to_owned()));
        }
    }
    assert_eq!(circles, Vec::<PathBuf>::new());
}

/// The imports from files that stand above the importing one. `rank` counts from the bottom; files without a rank do not count.
fn upward(crate_folder: &Path, rank: impl Fn(&Path) -> Option<usize>) -> Vec<[PathBuf; 2]> {
    let inside = |file: &PathBuf| file.strip_prefix(crate_folder).unwrap().to_owned();
    let mut upward = Vec::new();
    for (file, others) in &imports(crate_folder) {
        let Some(own) = rank(&inside(file)) else { continue };
        let above = others.iter().map(inside).filter(|other| rank(other).is_some_and(|other| other > own));
        upward.extend(above.map(|other| [inside(file), other]));
    }
    upward
}

/// The folder or file of a crate in which a file is.
fn top(file: &Path) -> &str {
    file.iter().next().unwrap().to_str().unwrap()
}

fn readme_between(start: &str, end: &str) -> String {
    let readme = std::fs::read_to_string(root().join("shared/README.md")).unwrap();
    let (_, after) = readme.split_once(start).unwrap();
    after.split_once(end).unwrap().0.to_owned()
}

#[test]
fn modules_of_shared_depend_on_those_to_their_right() {
    let stated = readme_between("Modules depend on those to their right: ", ", whose crate");
    let order: Vec<&str> = stated.split('\u{2192}').map(|name| name.trim().trim_matches('`')).collect();
    assert_eq!(order.last(), Some(&"domain"));
    let rank = |file: &Path| {
        let rank = order.iter().rev().position(|module| *module == top(file));
        assert!(
            rank.is_some() || top(file).ends_with(".rs"),
            "shared/README.md gives {} no place",
            top(file)
        );
        rank
    };
    assert_eq!(upward(&root().join("shared/src"), rank), Vec::<[PathBuf; 2]>::new());
}

#[test]
fn modules_of_domain_depend_on_those_above_them_in_the_list() {
    let stated = readme_between("from bottom to top:\n\n```\n", "\n```");
    let mut ranks = BTreeMap::new();
    for (rank, line) in stated.lines().enumerate() {
        let (modules, _) = line.split_once("  ").unwrap();
        ranks.extend(modules.split(' ').map(|module| (module.trim_end_matches('/'), rank)));
    }
    let rank = |file: &Path| {
        let is_test = file.iter().any(|name| name == "tests" || name == "tests.rs");
        if is_test || ["lib.rs", "samples.rs"].contains(&top(file)) {
            return None;
        }
        let rank = ranks.get(top(file)).copied();
        // Files that are not in the list are at the bottom.
        rank.or_else(|| top(file).ends_with(".rs").then_some(0))
            .or_else(|| panic!("shared/README.md gives {} no place", top(file)))
    };
    assert_eq!(upward(&root().join("shared/domain/src"), rank), Vec::<[PathBuf; 2]>::new());
}
