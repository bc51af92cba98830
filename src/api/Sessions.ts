import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DataUnavailable, InvalidApiKey, OriginNotAllowed, RateLimited } from "./errors/problems.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { NoQuery } from "./parameters.ts"
import { Account } from "./schemas/Account.ts"
import { field } from "../domain/field.ts"

export class SessionReport extends Schema.Opaque<SessionReport>()(
  Schema.Struct({
    account: field(
      Schema.NullOr(
        Schema.Struct({
          id: field(Schema.String, "Unique, stable id."),
          name: field(Schema.String, "Display name."),
          role: Account.fields.role
        })
      ),
      "The account that is signed in; null without a session."
    ),
    csrfToken: field(Schema.NullOr(Schema.String), "Value of X-CSRF-Token for changes; null without a session."),
    oidc: field(Schema.Boolean, "True when sign-in with an OpenID provider is configured.")
  }).annotate({ identifier: "SessionReport", description: "The session of this browser." })
) {}

export class SignInToken extends Schema.Opaque<SignInToken>()(
  Schema.Struct({
    token: field(
      Schema.String.check(Schema.isMaxLength(64, { expected: "at most 64 characters" })),
      "The part of a sign-in link after `#`."
    )
  }).annotate({ identifier: "SignInToken", description: "The token of a sign-in link." })
) {}

/** Sign-in and sign-out of the app. Links are made by `npm run accounts -- link`. */
export class SessionsGroup extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("current", "/app/session", {
      query: NoQuery,
      success: SessionReport,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "The session of this browser"),
    HttpApiEndpoint.post("open", "/app/session", {
      query: NoQuery,
      payload: SignInToken,
      success: SessionReport,
      error: [InvalidApiKey, OriginNotAllowed, RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Open a session with a sign-in link, which works once"),
    HttpApiEndpoint.delete("close", "/app/session", {
      query: NoQuery,
      success: SessionReport,
      error: [OriginNotAllowed, DataUnavailable]
    }).annotate(OpenApi.Summary, "Sign out"),
    HttpApiEndpoint.delete("closeAll", "/app/sessions", {
      query: NoQuery,
      success: SessionReport,
      error: [InvalidApiKey, OriginNotAllowed, DataUnavailable]
    }).annotate(OpenApi.Summary, "Sign out everywhere")
  )
  .annotate(OpenApi.Description, "Sign-in and sign-out of the app.") {}
