/** Keys of the account: the requests for them, and what the page derives from them. */
import { send } from "../data/request.ts"

/** A key as its owner sees it. */
export interface ManagedKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly lastFour: string
  readonly scopes: ReadonlyArray<string>
  readonly ipPolicy: ReadonlyArray<string> | null
  readonly plan: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly disabledAtMs: number | null
  readonly revokedAtMs: number | null
}

/** The keys of the account, and how many of them may be active. */
export interface KeyList {
  readonly data: ReadonlyArray<ManagedKey>
  readonly meta: { readonly limit: number }
}

/** A key with its secret. The secret is not shown again. */
export interface NewKey {
  readonly key: ManagedKey
  readonly secret: string
}

/** The terms of a key that its owner chooses. */
export interface KeyTerms {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly ipPolicy: ReadonlyArray<string> | null
  readonly plan?: string
  readonly expiresAtMs: number | null
}

export interface Plan {
  readonly name: string
  readonly rest: number
  readonly quote: number
  readonly windowSeconds: number
  readonly streams: number
  readonly sockets: number
  readonly trackedWallets: number
  readonly alerts: number
}

const KEYS = "/api/v1/account/keys"

const keyPath = (id: string, action = ""): string => `${KEYS}/${encodeURIComponent(id)}${action}`

/** The keys of the account, newest first. */
export const readKeys = async (signal: AbortSignal): Promise<KeyList> =>
  (await send("GET", KEYS, { signal })) as KeyList

export const readPlans = async (signal: AbortSignal): Promise<ReadonlyArray<Plan>> =>
  ((await send("GET", "/api/v1/account/plans", { signal })) as { readonly data: ReadonlyArray<Plan> }).data

export const createKey = async (body: KeyTerms): Promise<NewKey> => (await send("POST", KEYS, { body })) as NewKey

export const changeKey = async (id: string, body: KeyTerms): Promise<ManagedKey> =>
  (await send("PATCH", keyPath(id), { body })) as ManagedKey

/** Replaces a key by a new one. The old key ends after the overlap. */
export const rotateKey = async (id: string, overlapSeconds: number): Promise<NewKey> =>
  (await send("POST", keyPath(id, "/rotate"), { body: { overlapSeconds } })) as NewKey

/** Switches a key off or on again. */
export const switchKey = async (id: string, isOn: boolean): Promise<ManagedKey> =>
  (await send("POST", keyPath(id, isOn ? "/enable" : "/disable"))) as ManagedKey

/** Revokes a key for good. */
export const revokeKey = async (id: string): Promise<ManagedKey> => (await send("DELETE", keyPath(id))) as ManagedKey

export type KeyState = "active" | "disabled" | "expired" | "revoked"

/** The state of a key at a time. Revoked wins over expired, expired over disabled. */
export const stateOf = ({ disabledAtMs, expiresAtMs, revokedAtMs }: ManagedKey, nowMs: number): KeyState => {
  if (revokedAtMs !== null) {
    return "revoked"
  }
  if (expiresAtMs !== null && expiresAtMs <= nowMs) {
    return "expired"
  }
  return disabledAtMs === null ? "active" : "disabled"
}

/** Scopes in the order of the form, with what they open. Every key has the first one. */
export const scopes = [
  ["md.read", "Quotes, charts, tokens, prices, wallets, callouts. Every key has it."],
  ["tracker.read", "Tracked wallets of the account and their trades, also live."],
  ["alerts.read", "Price alerts of the account and their firings."],
  ["alerts.write", "Creating, changing and removing price alerts."],
  ["copy.read", "Followed wallets, copied fills and their profit."],
  ["account.read", "Wallets, balances and deposit addresses of the account."],
  ["perps.read", "Comparisons of perpetual futures venues."]
] as const

/** The addresses and blocks in a text; null when it has none, which allows every address. */
export const ipPolicyOf = (text: string): ReadonlyArray<string> | null => {
  const blocks = text.split(/[\s,]+/u).filter((block) => block !== "")
  return blocks.length === 0 ? null : [...new Set(blocks)]
}
