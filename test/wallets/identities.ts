/** Identity records for tests. */
import bs58 from "bs58"
import { Address } from "../../src/domain/Address.ts"
import { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import { Signature } from "../../src/domain/Signature.ts"
import { OTHER, START, WALLET } from "./trades.ts"

export const UNKNOWN_WALLET = Address.make("2qKHuhtKcRg4p6cmfQCBBEkQBrDUkjCSVsqPKCrqrE5R")
export const EVIDENCE = Signature.make(bs58.encode(new Uint8Array(64).fill(7)))

/** An empty record with overrides. */
export const recordOf = (overrides: Partial<IdentityRecord> = {}): IdentityRecord =>
  IdentityRecord.make({
    wallet: WALLET,
    labels: [],
    display: null,
    platforms: [],
    classifications: [],
    sns: null,
    owner: null,
    ...overrides
  })

/** Evidence of a platform. */
export const platformOf = (
  name: string,
  overrides: Partial<IdentityRecord["platforms"][number]> = {}
): IdentityRecord["platforms"][number] => ({
  tag: `platform:${name}`,
  method: "fee_account",
  evidenceTx: EVIDENCE,
  confidence: 8000,
  observedAtMs: START,
  ...overrides
})

/** A review that is publishable. */
export const reviewOf = (
  overrides: Partial<IdentityRecord["classifications"][number]> = {}
): IdentityRecord["classifications"][number] => ({
  kind: "hacker",
  name: null,
  method: "manual_review",
  evidenceTx: EVIDENCE,
  confidence: 9500,
  reviewedAtMs: START,
  validUntilMs: null,
  ...overrides
})

/** A record with every field. */
export const FULL = recordOf({
  labels: ["Early buyer", "Market maker 🦦"],
  display: { name: "Ada", avatarUrl: "https://images.example/ada.png" },
  platforms: [platformOf("harbor")],
  classifications: [reviewOf({ kind: "exchange", name: "Harbor Exchange" })],
  sns: { domain: "ada.sol", owner: WALLET, isTokenized: false, verifiedAtMs: START }
})

export const SECOND = recordOf({ wallet: OTHER, labels: ["Second"] })
