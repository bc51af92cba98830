/** The sign-in link that a start with a simulated or recorded market prints. */
import { Effect, Redacted } from "effect"
import { AccountStore } from "../access/accounts/AccountStore.ts"
import type { AccountNotFound, AccountStoreUnavailable } from "../api/schemas/Account.ts"

/** The account of the demo data and of the printed keys. */
export const WELCOME = "welcome"

/** Makes the account `welcome` if it is missing. */
export const makeWelcome: Effect.Effect<void, AccountStoreUnavailable, AccountStore> = AccountStore.use((accounts) =>
  accounts.create({ id: WELCOME, name: WELCOME, role: "owner" }).pipe(
    Effect.asVoid,
    Effect.catchTag("AccountExists", () => Effect.void)
  )
)

/** A path that opens one session of the account `welcome`. */
export const issueStartLink: Effect.Effect<string, AccountNotFound | AccountStoreUnavailable, AccountStore> =
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    yield* makeWelcome
    return `/sign-in#${Redacted.value(yield* accounts.link(WELCOME))}`
  })
