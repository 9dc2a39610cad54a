//! Compares the requests by which a named token leaves something behind, as the operator's handbook lists them, with the routes.

use super::AccessTable;

#[test]
fn the_handbook_names_every_request_by_which_a_token_leaves_something() {
    let handbook = include_str!("../../../../functions/SECRETS.md");
    let section = handbook.split("## A token has leaked").nth(1).unwrap();
    let table = section.split("\n## ").next().unwrap();
    let named = |cell: &str| {
        let quoted = cell.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once(" …/"));
        quoted.map(|(method, path)| (method.to_owned(), format!("/{path}"))).collect::<Vec<_>>()
    };
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains("…/"));
    let rows: Vec<(bool, Vec<(String, String)>)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            (cells[0].starts_with("| *p* "), named(cells[1]))
        })
        .collect();
    let promises = AccessTable::read();
    let (mut of_company, mut of_projects) = (0, 0);
    for row in promises.rows.iter().filter(|row| !row.method.is_safe() && row.path.starts_with("/companies/"))
    {
        let may = |kind| promises.promised(row, kind) < 400;
        let in_rows: Vec<_> = rows
            .iter()
            .filter(|(_, named)| {
                named.iter().any(|(method, path)| row.method == **method && row.path.ends_with(path.as_str()))
            })
            .map(|(is_of_projects, _)| *is_of_projects)
            .collect();
        let call = format!("{} {}", row.method, row.path);
        let by_any = ["token", "token:admin", "token:recruiter", "token:manager"].into_iter().any(may);
        assert_eq!(in_rows.len(), usize::from(by_any), "{call} in the rows of the handbook");
        of_company += usize::from(by_any);
        // The table has a webhook for a project that the token has not made.
        let is_of_projects = may("token:manager") || row.path.contains("{webhookId}");
        of_projects += usize::from(is_of_projects && by_any);
        if by_any && is_of_projects {
            assert_eq!(in_rows, [true], "{call} is sent by tokens with projects");
        }
    }
    let requests: usize = rows.iter().map(|(_, named)| named.len()).sum();
    assert!(requests > 60 && of_company > 60 && of_projects > 35, "{requests} {of_company} {of_projects}");
    assert!(rows.iter().all(|(_, named)| !named.is_empty()));
}
