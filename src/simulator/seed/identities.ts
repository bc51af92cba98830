/** Who the invented traders say they are, and what is known of a few of them. */
import type { Address } from "../../domain/Address.ts"
import { Signature } from "../../domain/Signature.ts"
import type { IdentityRecord } from "../../domain/wallets/WalletIdentity.ts"
import { inventBytes } from "../chain/addresses.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { SimWallet } from "../traders/cast.ts"

const DAY_MS = 86_400_000

/** What is known of a trader, by the name that the simulator gives it. */
type Known = Partial<Pick<IdentityRecord, "display" | "labels">> & {
  readonly platform?: string
  readonly review?: Pick<IdentityRecord["classifications"][number], "kind" | "name">
  readonly domain?: string
}

const image = (name: string): string => `https://images.example/wallets/${name}.png`

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

/** A signature that nobody made, the same for the same wallet and purpose. */
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

/** What is known of the invented wallets: everything was found on the day before. */
export const identitiesOf = (options: {
  readonly nowMs: number
  readonly wallets: ReadonlyArray<SimWallet>
}): ReadonlyArray<IdentityRecord> => {
  const yesterdayMs = (Math.floor(options.nowMs / DAY_MS) - 1) * DAY_MS
  return options.wallets.flatMap(({ address, label }) => {
    const told = known[label]
    return told === undefined ? [] : [recordOf(address, told, yesterdayMs)]
  })
}
