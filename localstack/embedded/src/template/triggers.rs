//! Triggers of functions other than requests: streams, schedules and rules of an event bus.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::{FUNCTIONS, Pattern, Template, references};
use crate::Error;

/// All triggers except requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triggers {
    /// The mappings of the table's stream.
    pub streams: Vec<StreamTrigger>,
    pub schedules: Vec<ScheduleTrigger>,
    /// Rules of the event bus. Their targets are functions, or queues that functions read.
    pub rules: Vec<RuleTrigger>,
}

/// A function that receives changes of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTrigger {
    /// The mapping's logical id.
    pub name: String,
    /// The function's logical id.
    pub function: String,
    /// The function receives a record if a filter matches, or if there are no filters.
    pub filters: Vec<Pattern>,
    /// The maximum number of records per event.
    pub batch_size: usize,
    /// The number of retries before a batch is given up.
    pub retries: usize,
    /// Whether a failed batch is split into two halves.
    pub bisects: bool,
    /// Whether the function reports individual failed records.
    pub reports_failures: bool,
}

/// A scheduled function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleTrigger {
    /// The schedule's name within the template.
    pub name: String,
    /// The function's logical id.
    pub function: String,
    /// The interval.
    pub every: Duration,
}

/// A function that receives events of a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTrigger {
    /// The function's logical id.
    pub function: String,
    /// The pattern of the events.
    pub pattern: Pattern,
}

/// Resource types that start functions in a deployment but not here, where `Events` starts these functions.
const APART: &[&str] = &["AWS::Scheduler::Schedule"];
const QUEUES: &[&str] = &["AWS::SQS::Queue"];

impl Template {
    /// The triggers of all functions.
    ///
    /// # Errors
    /// If the template has an unsupported trigger or property: ignoring it would make the local run differ from a
    /// deployment.
    pub fn triggers(&self) -> Result<Triggers, Error> {
        if let Some((name, _)) = self.of_type(APART).next() {
            return Err(Error::new(format!("the local run knows {name} only as an event of its function")));
        }
        let mappings = self.of_type(&["AWS::Lambda::EventSourceMapping"]);
        let (of_queues, streams): (Vec<_>, Vec<_>) =
            mappings.partition(|(_, mapping)| self.referred(&mapping["EventSourceArn"], QUEUES).is_some());
        let streams = streams.into_iter().map(|(name, mapping)| self.stream(name, mapping));
        let streams = streams.collect::<Result<_, _>>()?;
        let readers = of_queues.into_iter().map(|(name, mapping)| self.reader(name, mapping));
        let readers = readers.collect::<Result<_, _>>()?;
        let rules = self.of_type(&["AWS::Events::Rule"]).map(|(name, rule)| self.rule(name, rule, &readers));
        let mut rules = rules.collect::<Result<Vec<_>, _>>()?;
        let mut schedules = Vec::new();
        // Skip functions with their own runtime: they only monitor a deployment.
        let ours = self.of_type(FUNCTIONS).filter(|(_, properties)| properties["Runtime"].is_null());
        for (function, properties) in ours {
            for (event, definition) in properties["Events"].as_object().into_iter().flatten() {
                let name = format!("{function}{event}");
                let function = function.to_owned();
                let properties = &definition["Properties"];
                match definition["Type"].as_str() {
                    Some("Schedule") => {
                        knows(
                            &name,
                            properties,
                            &["DeadLetterConfig", "Description", "RetryPolicy", "Schedule"],
                        )?;
                        let every = rate(&properties["Schedule"]).ok_or_else(|| odd(&name, "Schedule"))?;
                        schedules.push(ScheduleTrigger { name, function, every });
                    }
                    Some("EventBridgeRule") => {
                        knows(
                            &name,
                            properties,
                            &["DeadLetterConfig", "EventBusName", "Pattern", "RetryPolicy"],
                        )?;
                        // No name means the account's default bus. Here, one bus stands for both.
                        if !properties["EventBusName"].is_null() {
                            self.referred(&properties["EventBusName"], &["AWS::Events::EventBus"])
                                .ok_or_else(|| odd(&name, "EventBusName"))?;
                        }
                        rules
                            .push(RuleTrigger { function, pattern: Pattern::parse(&properties["Pattern"])? });
                    }
                    _ => return Err(odd(&name, "Type")),
                }
            }
        }
        Ok(Triggers { streams, schedules, rules })
    }

    /// A queue and the function that reads it.
    fn reader(&self, name: &str, mapping: &Value) -> Result<(&str, &str), Error> {
        // The local run delivers events one by one, without the queue.
        let known = ["BatchSize", "EventSourceArn", "FunctionName", "FunctionResponseTypes", "ScalingConfig"];
        knows(name, mapping, &known)?;
        let queue = self.named(&mapping["EventSourceArn"], QUEUES);
        let function = self.named(&mapping["FunctionName"], FUNCTIONS);
        Ok((
            queue.ok_or_else(|| odd(name, "EventSourceArn"))?,
            function.ok_or_else(|| odd(name, "FunctionName"))?,
        ))
    }

    /// A rule that sends events to a queue.
    fn rule(&self, name: &str, rule: &Value, readers: &HashMap<&str, &str>) -> Result<RuleTrigger, Error> {
        knows(name, rule, &["EventBusName", "EventPattern", "Targets"])?;
        if !rule["EventBusName"].is_null() {
            self.named(&rule["EventBusName"], &["AWS::Events::EventBus"])
                .ok_or_else(|| odd(name, "EventBusName"))?;
        }
        let [target] = rule["Targets"].as_array().map_or(&[][..], Vec::as_slice) else {
            return Err(odd(name, "Targets"));
        };
        knows(name, target, &["Arn", "DeadLetterConfig", "Id"])?;
        let function = self.named(&target["Arn"], QUEUES).and_then(|queue| readers.get(queue));
        let function = (*function.ok_or_else(|| odd(name, "Targets"))?).to_owned();
        Ok(RuleTrigger { function, pattern: Pattern::parse(&rule["EventPattern"])? })
    }

    /// The logical id of the resource of these types that `value` refers to.
    fn named<'a>(&'a self, value: &Value, types: &'a [&'a str]) -> Option<&'a str> {
        let names = references(value);
        self.of_type(types).map(|(name, _)| name).find(|name| names.contains(name))
    }

    fn stream(&self, name: &str, mapping: &Value) -> Result<StreamTrigger, Error> {
        // The first five have no effect here: given-up records go to the log, the local run does not wait for records,
        // so that none grows old, nothing is counted, and batches run in sequence.
        let known = [
            "DestinationConfig",
            "MaximumBatchingWindowInSeconds",
            "MaximumRecordAgeInSeconds",
            "MetricsConfig",
            "ParallelizationFactor",
            "BatchSize",
            "BisectBatchOnFunctionError",
            "EventSourceArn",
            "FilterCriteria",
            "FunctionName",
            "FunctionResponseTypes",
            "MaximumRetryAttempts",
            "StartingPosition",
        ];
        knows(name, mapping, &known)?;
        let (function, _) =
            self.referred(&mapping["FunctionName"], FUNCTIONS).ok_or_else(|| odd(name, "FunctionName"))?;
        if !is_stream_of_table(self, &mapping["EventSourceArn"]) {
            return Err(odd(name, "EventSourceArn"));
        }
        if mapping["StartingPosition"] != "TRIM_HORIZON" {
            return Err(odd(name, "StartingPosition"));
        }
        let filters = mapping["FilterCriteria"]["Filters"].as_array().into_iter().flatten().map(|filter| {
            let pattern = filter["Pattern"].as_str().and_then(|text| serde_json::from_str(text).ok());
            Pattern::parse(&pattern.ok_or_else(|| odd(name, "FilterCriteria"))?)
        });
        let number =
            |property: &str| mapping[property].as_u64().and_then(|number| usize::try_from(number).ok());
        let responses = mapping["FunctionResponseTypes"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(StreamTrigger {
            name: name.to_owned(),
            function: function.to_owned(),
            filters: filters.collect::<Result<_, _>>()?,
            batch_size: number("BatchSize").filter(|size| *size > 0).ok_or_else(|| odd(name, "BatchSize"))?,
            // Required, because without a number Lambda would retry until the records are a day old.
            retries: number("MaximumRetryAttempts").ok_or_else(|| odd(name, "MaximumRetryAttempts"))?,
            bisects: mapping["BisectBatchOnFunctionError"] == true,
            reports_failures: responses.iter().any(|kind| kind == "ReportBatchItemFailures"),
        })
    }
}

fn is_stream_of_table(template: &Template, source: &Value) -> bool {
    let is_stream = |text: &str| text.ends_with(".StreamArn");
    let names_stream = match &source["Fn::GetAtt"] {
        Value::String(text) => is_stream(text),
        Value::Array(parts) => parts.get(1).is_some_and(|part| part == "StreamArn"),
        _ => false,
    };
    names_stream
        && references(source)
            .iter()
            .any(|name| template.of_type(&["AWS::DynamoDB::Table"]).any(|(table, _)| table == *name))
}

/// Refuses unsupported properties.
fn knows(name: &str, properties: &Value, known: &[&str]) -> Result<(), Error> {
    let mut members = properties.as_object().into_iter().flatten();
    match members.find(|(member, _)| !known.contains(&member.as_str())) {
        None => Ok(()),
        Some((member, _)) => Err(odd(name, member)),
    }
}

/// The interval of a rate expression such as `rate(5 minutes)`.
fn rate(expression: &Value) -> Option<Duration> {
    let (number, unit) = expression.as_str()?.strip_prefix("rate(")?.strip_suffix(')')?.split_once(' ')?;
    let seconds = match unit {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 3600,
        "day" | "days" => 86400,
        _ => return None,
    };
    let number: u32 = number.parse().ok().filter(|number| *number > 0)?;
    Some(Duration::from_secs(seconds) * number)
}

fn odd(name: &str, property: &str) -> Error {
    Error::new(format!("the local run does not know what the template's {name} says by its {property}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SAMPLE: &str = r#"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
  Bus:
    Type: AWS::Events::EventBus
  OutboxFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        EveryMinute:
          Type: Schedule
          Properties: {Schedule: rate(1 minute), RetryPolicy: {MaximumRetryAttempts: 1}}
  ProbeFunction:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: python3.13
      Events:
        EveryFiveMinutes:
          Type: Schedule
          Properties: {Schedule: rate(5 minutes)}
  PlatformFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Platform:
          Type: EventBridgeRule
          Properties:
            EventBusName: !Ref Bus
            Pattern: {source: [platform]}
  QueuedFunction:
    Type: AWS::Serverless::Function
  Queue:
    Type: AWS::SQS::Queue
  QueueMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {FunctionName: !Ref QueuedFunction.Alias, EventSourceArn: !GetAtt Queue.Arn, BatchSize: 10}
  QueueRule:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern: {source: [other]}
      Targets: [{Id: Queue, Arn: !GetAtt Queue.Arn}]
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref OutboxFunction
      EventSourceArn: !GetAtt Table.StreamArn
      StartingPosition: TRIM_HORIZON
      BatchSize: 10
      FilterCriteria:
        Filters:
          - Pattern: '{"eventName": ["INSERT"]}'
      FunctionResponseTypes: [ReportBatchItemFailures]
      BisectBatchOnFunctionError: true
      MaximumRetryAttempts: 3
      MaximumRecordAgeInSeconds: 180
"#;

    fn pattern(pattern: Value) -> Pattern {
        Pattern::parse(&pattern).unwrap()
    }

    #[test]
    fn triggers_lead_to_their_functions() {
        let triggers = Template::parse(SAMPLE).unwrap().triggers().unwrap();
        let stream = StreamTrigger {
            name: "Mapping".to_owned(),
            function: "OutboxFunction".to_owned(),
            filters: vec![pattern(json!({ "eventName": ["INSERT"] }))],
            batch_size: 10,
            retries: 3,
            bisects: true,
            reports_failures: true,
        };
        let schedule = ScheduleTrigger {
            name: "OutboxFunctionEveryMinute".to_owned(),
            function: "OutboxFunction".to_owned(),
            every: Duration::from_secs(60),
        };
        let rule = |function: &str, source: &str| RuleTrigger {
            function: function.to_owned(),
            pattern: pattern(json!({ "source": [source] })),
        };
        let rules = vec![rule("QueuedFunction", "other"), rule("PlatformFunction", "platform")];
        assert_eq!(triggers, Triggers { streams: vec![stream], schedules: vec![schedule], rules });
    }

    #[test]
    fn triggers_that_differ_from_a_deployment_are_refused() {
        for (known, unknown, named) in [
            ("rate(1 minute)", "cron(0 * * * ? *)", "OutboxFunctionEveryMinute says by its Schedule"),
            ("rate(1 minute)", "rate(0 minutes)", "Schedule"),
            ("RetryPolicy:", "Input:", "Input"),
            ("Type: Schedule", "Type: S3", "OutboxFunctionEveryMinute says by its Type"),
            ("EventBusName: !Ref Bus\n            ", "EventBusName: other\n            ", "EventBusName"),
            ("EventBusName: !Ref Bus\n      ", "EventBusName: other\n      ", "EventBusName"),
            ("[platform]", "[{suffix: form}]", "suffix"),
            ("'{\"eventName\": [\"INSERT\"]}'", "INSERT", "FilterCriteria"),
            ("Table.StreamArn", "Other.StreamArn", "EventSourceArn"),
            ("Table.StreamArn", "Table.Arn", "EventSourceArn"),
            ("TRIM_HORIZON", "LATEST", "StartingPosition"),
            ("MaximumRetryAttempts: 3", "MaximumRetryAttempts: -1", "MaximumRetryAttempts"),
            ("BatchSize: 10", "TumblingWindowInSeconds: 10", "TumblingWindowInSeconds"),
            ("AWS::DynamoDB::Table", "AWS::Scheduler::Schedule", "Table"),
            ("BatchSize: 10}", "FilterCriteria: {}}", "QueueMapping says by its FilterCriteria"),
            ("!Ref QueuedFunction.Alias", "other", "QueueMapping says by its FunctionName"),
            ("EventPattern:", "ScheduleExpression:", "QueueRule says by its ScheduleExpression"),
            ("[{Id: Queue, Arn: !GetAtt Queue.Arn}]", "[]", "QueueRule says by its Targets"),
            ("{Id: Queue, Arn: !GetAtt Queue.Arn}", "{Arn: !GetAtt QueuedFunction.Arn}", "Targets"),
        ] {
            let error = Template::parse(&SAMPLE.replace(known, unknown)).unwrap().triggers().unwrap_err();
            assert!(error.to_string().contains(named), "{unknown}: {error}");
        }
    }
}
