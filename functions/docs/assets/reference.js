"use strict";

// Credentials that are entered on the page last as long as it is open, and are kept nowhere.
SwaggerUIBundle({
    dom_id: "#reference",
    url: document.getElementById("reference").dataset.document,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    docExpansion: "none",
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
});
