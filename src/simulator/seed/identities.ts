/** Demo identities for a few simulated traders. */
import { Effect, Layer } from "effect"
import type { Address } from "../../domain/Address.ts"
import { Signature } from "../../domain/Signature.ts"
import type { IdentityRecord } from "../../api/schemas/WalletIdentity.ts"
import { inventBytes } from "../chain/addresses.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { SimWallet } from "../traders/cast.ts"
import { IdentityStore } from "../../wallets/IdentityStore.ts"
import { orWarn, patiently } from "./patience.ts"

const DAY_MS = 86_400_000

/** What is known of a trader: parts of a record. */
type Known = Partial<Pick<IdentityRecord, "display" | "labels">> & {
  readonly platform?: string
  readonly review?: Pick<IdentityRecord["classifications"][number], "kind" | "name">
  readonly domain?: string
}

const image = (name: string): string => `https://images.example/wallets/${name}.png`

/** Parts of records, by the label that the simulator gives a wallet. */
const known: Readonly<Record<string, Known>> = {
  "whale 1": {
    labels: ["Whale"],
    display: { name: "Deep Water", avatarUrl: image("deep-water") },
    domain: "deepwater.sol"
  },
  "whale 2": { labels: ["Whale"], platform: "harbor" },
  "whale 3": { labels: ["Whale", "Early buyer"] },
  "arbitrageur 1": { labels: ["Arbitrage bot"], display: { name: "Tide Runner", avatarUrl: null } },
  "arbitrageur 2": { labels: ["Arbitrage bot"] },
  "retail 1": { display: { name: "Mira Tides", avatarUrl: image("mira-tides") }, domain: "mira-tides.sol" },
  "retail 2": { platform: "harbor" },
  "retail 3": { platform: "slipway" },
  "retail 4": { review: { kind: "spam_dusting", name: null } },
  "retail 5": { review: { kind: "hacker", name: null } },
  treasury: { labels: ["Hot wallet"], review: { kind: "exchange", name: "Harbor Exchange" } }
}

/** A made-up signature that belongs to no transaction. The same wallet and purpose give the same signature. */
const signatureOf = (wallet: Address, purpose: string): Signature =>
  Signature.make(
    toBase58(Uint8Array.from([0, 1].flatMap((half) => Array.from(inventBytes(wallet, `${purpose} ${half}`)))))
  )

const recordOf = (
  wallet: Address,
  { display, domain, labels, platform, review }: Known,
  atMs: number
): IdentityRecord => ({
  wallet,
  owner: null,
  labels: labels ?? [],
  display: display ?? null,
  platforms:
    platform === undefined
      ? []
      : [
          {
            tag: `platform:${platform}`,
            method: "fee_account",
            evidenceTx: signatureOf(wallet, "platform"),
            confidence: 9000,
            observedAtMs: atMs
          }
        ],
  classifications:
    review === undefined
      ? []
      : [
          {
            ...review,
            method: "manual_review",
            evidenceTx: signatureOf(wallet, "review"),
            confidence: 9800,
            reviewedAtMs: atMs,
            validUntilMs: null
          }
        ],
  sns: domain === undefined ? null : { domain, owner: wallet, isTokenized: false, verifiedAtMs: atMs }
})

/** The records of wallets that have one, observed and reviewed on the previous day. */
export const identitiesOf = (options: {
  readonly nowMs: number
  readonly wallets: ReadonlyArray<SimWallet>
}): ReadonlyArray<IdentityRecord> => {
  const yesterdayMs = (Math.floor(options.nowMs / DAY_MS) - 1) * DAY_MS
  return options.wallets.flatMap(({ address, label }) => {
    const parts = known[label]
    return parts === undefined ? [] : [recordOf(address, parts, yesterdayMs)]
  })
}

/** Sorts before reviewed records, so a demo name wins. */
const SOURCE = "demo"

/** Replaces the demo identities of an earlier start. An empty list removes them. */
export const seedIdentities = (records: ReadonlyArray<IdentityRecord>) =>
  IdentityStore.use((store) => patiently(store.replace(SOURCE, records)))

/** Removes the demo identities of earlier starts: a market that is not simulated must not show them. */
export const layerRemoved: Layer.Layer<never, never, IdentityStore> = Layer.effectDiscard(
  seedIdentities([]).pipe(orWarn("The demo identities of an earlier start were not removed"), Effect.forkScoped)
)
