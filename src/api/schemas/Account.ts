import { Schema } from "effect"

/** The rights of an account. An owner manages accounts and plans, a member only its own account. */
export const Role = Schema.Literals(["owner", "member"]).annotate({
  identifier: "AccountRole",
  description: "Owners change plans; members read and manage keys."
})
export type Role = typeof Role.Type

/** Id of an account: 1 to 64 letters, digits, `_` and `-`. */
export const AccountId = Schema.String.check(
  Schema.isPattern(/^[\w-]{1,64}$/u, { expected: "1 to 64 letters, digits, _ and -" })
)

/** Display name of an account: 1 to 64 characters without control characters. */
export const AccountName = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}]{1,64}$/u, { expected: "1 to 64 printable characters" })
)

/** The owner of keys, tracked wallets and alerts. Times are milliseconds since the Unix epoch. */
export class Account extends Schema.Opaque<Account>()(
  Schema.Struct({
    id: AccountId,
    name: AccountName,
    role: Role,
    createdAtMs: Schema.Int,
    /** While it is set, links and sessions of the account are refused. */
    disabledAtMs: Schema.NullOr(Schema.Int)
  }).annotate({ identifier: "Account", description: "The owner of keys, tracked wallets and alerts." })
) {}

/** A user of an OpenID provider, identified by issuer and subject. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** Another account has this id. */
export class AccountExists extends Schema.TaggedError<AccountExists>()("AccountExists", { id: Schema.String }) {}

/** No account has this id. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", { id: Schema.String }) {}

/** The token of a link is unknown, used or expired, or its account is disabled. The answer does not say which. */
export class LinkNotValid extends Schema.TaggedError<LinkNotValid>()("LinkNotValid", {}) {}

/**
 * The secret of a session is unknown, its session has ended, or its account is disabled. The answer does not say which.
 */
export class SessionEnded extends Schema.TaggedError<SessionEnded>()("SessionEnded", {}) {}

/** The store did not answer in time, or failed. */
export class AccountStoreUnavailable extends Schema.TaggedError<AccountStoreUnavailable>()("AccountStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the account store does not answer"
  }
}

/** The OpenID provider gave no usable reply. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the OpenID provider does not answer"
  }
}

/**
 * The OpenID provider refused a sign-in, or its answer belongs to another sign-in. The code names the check that
 * failed.
 */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", { code: Schema.String }) {}
