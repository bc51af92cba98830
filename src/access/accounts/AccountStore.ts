import { Context, type Effect, type Redacted } from "effect"
import type {
  Account,
  AccountExists,
  AccountNotFound,
  AccountStoreUnavailable,
  Identity,
  LinkNotValid
} from "../../api/schemas/Account.ts"

/** Minutes for which a sign-in link can be used. */
export const LINK_MINUTES = 15

/** Minutes within which a sign-in at a provider has to be finished. */
export const PENDING_MINUTES = 10

/** Accounts, their sign-in links, and their users at OpenID providers. */
export class AccountStore extends Context.Service<
  AccountStore,
  {
    create(
      account: Pick<Account, "id" | "name" | "role">
    ): Effect.Effect<Account, AccountExists | AccountStoreUnavailable>
    /** The account; null when there is none. */
    find(id: string): Effect.Effect<Account | null, AccountStoreUnavailable>
    /** Every account, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Account>, AccountStoreUnavailable>
    /** Disables an account and ends its sessions, or enables it again. Keys are not changed. */
    setDisabled(id: string, disabled: boolean): Effect.Effect<Account, AccountNotFound | AccountStoreUnavailable>
    /** A token that opens one session within LINK_MINUTES. Only its hash is kept. */
    link(id: string): Effect.Effect<Redacted.Redacted, AccountNotFound | AccountStoreUnavailable>
    /** Uses up a token and returns its account. When several processes try at once, only one succeeds. */
    redeem(token: Redacted.Redacted): Effect.Effect<Account, LinkNotValid | AccountStoreUnavailable>
    /**
     * Returns the secret of a new sign-in at a provider, which can be finished once, within PENDING_MINUTES. Only its
     * hash is kept.
     */
    readonly beginSignIn: Effect.Effect<Redacted.Redacted, AccountStoreUnavailable>
    /**
     * Uses up a pending sign-in. When several processes try at once, only one succeeds. Fails when the sign-in is
     * unknown, finished or too old.
     */
    finishSignIn(secret: Redacted.Redacted): Effect.Effect<void, LinkNotValid | AccountStoreUnavailable>
    /**
     * The account of a provider's user. The first sign-in creates it, as a member with this name. Fails when the
     * account is disabled.
     */
    ofIdentity(identity: Identity, name: string): Effect.Effect<Account, LinkNotValid | AccountStoreUnavailable>
  }
>()("fathom/access/accounts/AccountStore") {}
