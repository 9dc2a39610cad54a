//! The texts and examples of each route in the OpenAPI document.

use shared::openapi::OperationDoc;

const FILE: &str = "A file of the page or of the guide.";

pub(crate) fn find_this_reference(operation: OperationDoc) -> OperationDoc {
    operation.text("The addresses at which the API is described, for programs that know only its base URL.")
}

pub(crate) fn get_this_document(operation: OperationDoc) -> OperationDoc {
    operation
        .text("OpenAPI 3.1, with this deployment's URL under `servers`.")
        .sends("application/json", "The document.")
}

pub(crate) fn show_the_reference(operation: OperationDoc) -> OperationDoc {
    operation
        .text("For browsers. Requests that you try on the page are sent to this deployment and take effect.")
        .sends("text/html", "The page.")
}

pub(crate) fn get_reference_file(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "A file of the page, whose URL changes with its content; a page of the guide as Markdown, such as `quickstart.md`; or a script \
             that the guide names.",
        )
        .sends("text/css", FILE)
        .sends("text/javascript", FILE)
        .sends("text/markdown", FILE)
        .sends("text/x-python", FILE)
}
