//! Reads the CloudFormation template: the table's definition, the gateway's routes and the functions' triggers.
//!
//! The local run uses no other description, so it cannot differ from a deployment.

mod pattern;
mod triggers;

use std::sync::LazyLock;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value, json};

pub use pattern::Pattern;
pub use triggers::{RuleTrigger, ScheduleTrigger, StreamTrigger, Triggers};

use crate::Error;
use crate::cors::{Cors, Names};

const WORKSPACE_TEMPLATE: &str = include_str!("../../../../template.yaml");

const FUNCTIONS: &[&str] = &["AWS::Serverless::Function", "AWS::Lambda::Function"];

/// The resources of a CloudFormation template, with short tags expanded: `!Ref x` is `{"Ref": "x"}`.
#[derive(Debug, Clone)]
pub struct Template {
    resources: Map<String, Value>,
    /// The default properties of functions.
    defaults: Value,
}

/// A DynamoDB table without its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// `KeySchema`, `AttributeDefinitions`, `GlobalSecondaryIndexes` and `StreamSpecification`, as parameters of
    /// CreateTable. Capacity is always on demand.
    pub parameters: Map<String, Value>,
    /// The attribute with an item's expiry time, in seconds since 1970.
    pub ttl_attribute: Option<String>,
}

/// A route of the HTTP API and its function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteTarget {
    /// The route key, such as `ANY /api/v3/whoami/{proxy+}` or `$default`.
    pub route_key: String,
    /// The function's logical id, such as `AuthFunction`.
    pub function: String,
}

impl Template {
    /// The template of this workspace.
    ///
    /// # Errors
    /// If the file is not a CloudFormation template.
    pub fn of_workspace() -> Result<&'static Self, Error> {
        // Parse it only once: that takes as long as a hundred requests, and each test's back end needs it.
        static TEMPLATE: LazyLock<Result<Template, Error>> =
            LazyLock::new(|| Template::parse(WORKSPACE_TEMPLATE));
        TEMPLATE.as_ref().map_err(|error| Error::new(error.to_string()))
    }

    /// Parses a template in YAML.
    ///
    /// # Errors
    /// If the text is not YAML or has no `Resources`.
    pub fn parse(yaml: &str) -> Result<Self, Error> {
        let documents = Yaml::load_from_str(yaml).map_err(Error::because("the template is not YAML"))?;
        let mut root = documents.first().map(json_of).unwrap_or_default();
        let defaults = root.pointer_mut("/Globals/Function").map(Value::take).unwrap_or_default();
        match root.get_mut("Resources").map(Value::take) {
            Some(Value::Object(resources)) => Ok(Self { resources, defaults }),
            _ => Err(Error::new("the template has no Resources")),
        }
    }

    /// The definition of the only table.
    ///
    /// # Errors
    /// If there is no table, or more than one.
    pub fn table(&self) -> Result<TableDefinition, Error> {
        let mut tables = self.of_type(&["AWS::DynamoDB::Table"]);
        let (Some((_, table)), None) = (tables.next(), tables.next()) else {
            return Err(Error::new("the template must have exactly one AWS::DynamoDB::Table"));
        };
        let mut parameters = Map::new();
        for name in ["KeySchema", "AttributeDefinitions"] {
            parameters.insert(name.to_owned(), table[name].clone());
        }
        if let Some(indexes) = table["GlobalSecondaryIndexes"].as_array() {
            let indexes = indexes.iter().map(|index| only(index, &["IndexName", "KeySchema", "Projection"]));
            parameters.insert("GlobalSecondaryIndexes".to_owned(), indexes.collect());
        }
        // CreateTable needs `StreamEnabled`, which CloudFormation infers.
        if let Some(view) = table["StreamSpecification"]["StreamViewType"].as_str() {
            let stream = json!({ "StreamEnabled": true, "StreamViewType": view });
            parameters.insert("StreamSpecification".to_owned(), stream);
        }
        parameters.insert("BillingMode".to_owned(), json!("PAY_PER_REQUEST"));
        let ttl = &table["TimeToLiveSpecification"];
        let ttl_attribute =
            ttl["AttributeName"].as_str().filter(|_| ttl["Enabled"] == true).map(str::to_owned);
        Ok(TableDefinition { parameters, ttl_attribute })
    }

    /// The routes of the HTTP API that have no condition.
    ///
    /// # Errors
    /// If a route does not lead through an integration to a function of the template.
    pub fn routes(&self) -> Result<Vec<RouteTarget>, Error> {
        self.routes_if(&Value::Null)
    }

    /// The routes that the parameter `SlashRoutes` adds.
    ///
    /// # Errors
    /// If a route does not lead through an integration to a function of the template.
    pub fn slash_routes(&self) -> Result<Vec<RouteTarget>, Error> {
        self.routes_if(&"HasSlashRoutes".into())
    }

    fn routes_if(&self, condition: &Value) -> Result<Vec<RouteTarget>, Error> {
        self.of_type(&["AWS::ApiGatewayV2::Route"])
            .filter(|(name, _)| self.resources[*name]["Condition"] == *condition)
            .map(|(name, route)| {
                let route_key = route["RouteKey"].as_str();
                let function = self
                    .referred(&route["Target"], &["AWS::ApiGatewayV2::Integration"])
                    .and_then(|(_, integration)| self.referred(&integration["IntegrationUri"], FUNCTIONS))
                    .map(|(function, _)| function);
                match (route_key, function) {
                    (Some(route_key), Some(function)) => {
                        Ok(RouteTarget { route_key: route_key.to_owned(), function: function.to_owned() })
                    }
                    _ => Err(Error::new(format!("the template's route {name} leads to no function"))),
                }
            })
            .collect()
    }

    /// The CORS rules of the HTTP API, for `origins`.
    pub(crate) fn cors_of_api(&self, origins: &[String]) -> Cors {
        let names = Names { methods: "AllowMethods", headers: "AllowHeaders", exposed: "ExposeHeaders" };
        Cors::read(
            // The branch of the condition for allowed origins.
            self.cors(&["AWS::ApiGatewayV2::Api"], "/Fn::If/1"),
            &names,
            origins,
        )
    }

    /// The CORS rules of the bucket, for `origins`.
    pub(crate) fn cors_of_bucket(&self, origins: &[String]) -> Cors {
        let names = Names { methods: "AllowedMethods", headers: "AllowedHeaders", exposed: "ExposedHeaders" };
        // A test checks that the second rule is equal.
        Cors::read(self.cors(&["AWS::S3::Bucket"], "/CorsRules/0"), &names, origins)
    }

    /// The rules at `place`, a JSON pointer, in the first CORS configuration that has them.
    fn cors<'a>(&'a self, types: &'a [&'a str], place: &'a str) -> &'a Value {
        let mut rules =
            self.of_type(types).filter_map(|(_, properties)| properties["CorsConfiguration"].pointer(place));
        rules.next().unwrap_or(&Value::Null)
    }

    /// The memory of a function in megabytes; `None` if the function or its value is missing.
    pub fn memory_size(&self, function: &str) -> Option<u64> {
        let (_, properties) = self.of_type(FUNCTIONS).find(|(name, _)| *name == function)?;
        properties["MemorySize"].as_u64().or_else(|| self.defaults["MemorySize"].as_u64())
    }

    /// The logical ids and properties of all resources of these types.
    fn of_type<'a>(&'a self, types: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.resources.iter().filter_map(move |(name, resource)| {
            let kind = resource["Type"].as_str()?;
            types.contains(&kind).then_some((name.as_str(), &resource["Properties"]))
        })
    }

    /// The first resource of these types that `value` refers to.
    fn referred<'a>(&'a self, value: &'a Value, types: &'a [&'a str]) -> Option<(&'a str, &'a Value)> {
        let names = references(value);
        self.of_type(types).find(|(name, _)| names.contains(name))
    }
}

fn only(value: &Value, members: &[&str]) -> Value {
    members.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect()
}

/// The logical ids in a value's Ref, GetAtt and Sub.
fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match (name.as_str(), value) {
                ("Ref" | "Fn::GetAtt", Value::String(text)) => vec![before_dot(text)],
                ("Fn::GetAtt", Value::Array(parts)) => {
                    parts.iter().take(1).filter_map(Value::as_str).collect()
                }
                ("Fn::Sub", Value::String(text)) => substituted(text),
                ("Fn::Sub", Value::Array(parts)) => {
                    let text = parts.first().and_then(Value::as_str).unwrap_or_default();
                    substituted(text).into_iter().chain(parts.iter().skip(1).flat_map(references)).collect()
                }
                _ => references(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn substituted(text: &str) -> Vec<&str> {
    text.split("${").skip(1).filter_map(|rest| Some(before_dot(rest.split_once('}')?.0))).collect()
}

fn before_dot(text: &str) -> &str {
    text.split('.').next().unwrap_or(text)
}

fn json_of(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Boolean(value)) => json!(value),
        Yaml::Value(Scalar::Integer(value)) => json!(value),
        Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => json!(value),
        Yaml::Sequence(items) => items.iter().map(json_of).collect(),
        Yaml::Mapping(members) => members
            .iter()
            .map(|(name, value)| {
                let name = json_of(name);
                (name.as_str().map_or_else(|| name.to_string(), str::to_owned), json_of(value))
            })
            .collect(),
        Yaml::Tagged(tag, value) => {
            let name = match &*tag.suffix {
                plain @ ("Ref" | "Condition") => plain.to_owned(),
                function => format!("Fn::{function}"),
            };
            json!({ name: json_of(value) })
        }
        Yaml::Value(Scalar::Null) | Yaml::Representation(..) | Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SAMPLE: &str = r#"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: !If [Protected, true, false]
      KeySchema:
        - { AttributeName: pk, KeyType: HASH }
      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: due_shard, AttributeType: N }
      GlobalSecondaryIndexes:
        - IndexName: due
          KeySchema:
            - { AttributeName: due_shard, KeyType: HASH }
          Projection: { ProjectionType: KEYS_ONLY }
          OnDemandThroughput: { MaxReadRequestUnits: !Ref Limit }
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
      TimeToLiveSpecification: { AttributeName: expires_at, Enabled: true }
  AuthFunction:
    Type: AWS::Serverless::Function
  AuthIntegration:
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      IntegrationUri: !Sub arn:${AWS::Partition}:lambda:path/functions/${AuthFunction.Arn}/invocations
  OtherIntegration:
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      IntegrationUri: !GetAtt AuthFunction.Arn
  WhoamiRoute:
    Type: AWS::ApiGatewayV2::Route
    Properties:
      RouteKey: ANY /api/v3/whoami
      Target: !Sub integrations/${AuthIntegration}
  DefaultRoute:
    Type: AWS::ApiGatewayV2::Route
    Properties:
      RouteKey: $default
      Target: !Join ["/", [integrations, !Ref OtherIntegration]]
"#;

    #[test]
    fn the_definition_has_exactly_the_parameters_of_create_table() {
        let table = Template::parse(SAMPLE).unwrap().table().unwrap();
        assert_eq!(
            Value::Object(table.parameters),
            json!({
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
                "AttributeDefinitions": [
                    { "AttributeName": "pk", "AttributeType": "S" },
                    { "AttributeName": "due_shard", "AttributeType": "N" },
                ],
                "GlobalSecondaryIndexes": [{
                    "IndexName": "due",
                    "KeySchema": [{ "AttributeName": "due_shard", "KeyType": "HASH" }],
                    "Projection": { "ProjectionType": "KEYS_ONLY" },
                }],
                "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
            })
        );
        assert_eq!(table.ttl_attribute.as_deref(), Some("expires_at"));
    }

    #[test]
    fn routes_lead_through_their_integration_to_a_function() {
        let routes = Template::parse(SAMPLE).unwrap().routes().unwrap();
        let routes: Vec<_> =
            routes.iter().map(|route| (route.route_key.as_str(), route.function.as_str())).collect();
        assert_eq!(routes.len(), 2);
        assert!(routes.contains(&("ANY /api/v3/whoami", "AuthFunction")));
        assert!(routes.contains(&("$default", "AuthFunction")));
    }

    #[test]
    fn a_route_to_nowhere_is_named() {
        let lost = SAMPLE.replace("${AuthIntegration}", "${Missing}");
        let error = Template::parse(&lost).unwrap().routes().unwrap_err();
        assert!(error.to_string().contains("WhoamiRoute"), "{error}");
        assert!(Template::parse("Resources: 1").is_err());
        assert!(Template::parse("Resources: {}").unwrap().table().is_err());
    }

    #[test]
    fn the_page_uses_the_bucket_as_pages_of_allowed_origins_do() {
        let template = Template::of_workspace().unwrap();
        let rule = |place| {
            let mut rule = template.cors(&["AWS::S3::Bucket"], place).as_object().unwrap().clone();
            (rule.remove("AllowedOrigins").unwrap(), rule)
        };
        let ((page, of_page), (allowed, of_allowed)) = (rule("/CorsRules/0"), rule("/CorsRules/1/Fn::If/1"));
        assert_eq!(of_page, of_allowed);
        assert_eq!(allowed, json!({ "Ref": "AllowedOrigins" }));
        // Links in mails lead to the origin of the base URL.
        let base_url = &template.defaults["Environment"]["Variables"]["BASE_URL"];
        assert_eq!(references(&page[0]), references(base_url));
    }

    #[test]
    fn routes_without_a_credential_and_of_drafts_have_a_limit_of_their_own_and_are_there_before_it() {
        let template = Template::of_workspace().unwrap();
        let (names, keys): (Vec<_>, Vec<_>) = template
            .of_type(&["AWS::ApiGatewayV2::Route"])
            .filter_map(|(name, route)| Some((name, route["RouteKey"].as_str()?)))
            .filter(|(_, key)| {
                let without_credential = ["api-", "candidate-links", "receipt-keys", "sign-in"];
                let below = key.strip_prefix("ANY /api/v3/").unwrap_or_default();
                without_credential.iter().any(|start| below.starts_with(start)) || below.contains("/draft")
            })
            .unzip();
        assert!(!keys.is_empty());
        let (_, properties) = template.of_type(&["AWS::ApiGatewayV2::Stage"]).next().unwrap();
        let settings = properties["RouteSettings"].as_object().unwrap();
        let limited: BTreeSet<_> = settings.keys().map(String::as_str).collect();
        assert_eq!(limited, keys.into_iter().collect());
        for (key, limits) in settings {
            // The limits of a conditional route have the same condition.
            let limits = if key.ends_with('/') { &limits["Fn::If"][1] } else { limits };
            assert!(limits["ThrottlingRateLimit"].is_number() && limits["ThrottlingBurstLimit"].is_number());
        }
        let stage = &template.resources["Stage"];
        let waits_for = stage["DependsOn"].as_array().unwrap().iter().filter_map(Value::as_str);
        let waits_for: BTreeSet<_> = waits_for.chain(references(&stage["Metadata"])).collect();
        assert!(names.iter().all(|name| waits_for.contains(name)), "{names:?}");
    }

    #[test]
    fn the_stage_comes_after_all_routes_so_that_creating_them_deploys_nothing() {
        let template = Template::of_workspace().unwrap();
        let routes = template.of_type(&["AWS::ApiGatewayV2::Route"]).map(|(name, _)| name);
        let unconditional = routes.filter(|name| template.resources[*name]["Condition"].is_null());
        let waits_for = template.resources["Stage"]["DependsOn"].as_array().unwrap();
        let waits_for: BTreeSet<_> = waits_for.iter().filter_map(Value::as_str).collect();
        assert_eq!(waits_for, unconditional.collect());
    }
}
