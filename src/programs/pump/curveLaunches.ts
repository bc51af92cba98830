/** Launches on Pump.fun's curves, read from events. Layout: pump-public-docs, idl/pump.json. */
import type { Launch } from "../../api/schemas/Launch.ts"
import { Address, type Mint, SOL } from "../../domain/Address.ts"
import { eventLayout } from "../layout/anchorEvents.ts"
import { readAddress, readU32 } from "../layout/bytes.ts"
import { i64, key, pack, text, u64, utf8 } from "../layout/pack.ts"
import { pumpCurve } from "./curve.ts"
import { PUMP_PROGRAM } from "./fees.ts"
import type { Launchpad } from "../interface/Launchpad.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { tagOf } from "../layout/anchor.ts"

const launchpad = "pump-fun"

const CREATE = tagOf("181ec828051c0777")
const MIGRATE = tagOf("9beae792ec9ea21e")
const CREATE_EVENT = tagOf("1b72a94ddeeb6376")

/** Event `CompletePumpAmmMigrationEvent`. */
export const pumpMigrationEvent = eventLayout("bde95db95c94ea94", [
  ["user", "address"],
  ["mint", "address"],
  ["mintAmount", "u64"],
  ["solAmount", "u64"],
  ["poolMigrationFee", "u64"],
  ["bondingCurve", "address"],
  ["timestamp", "i64"],
  ["pool", "address"]
])
const migrationAt = { mint: pumpMigrationEvent.offsetOf("mint"), pool: pumpMigrationEvent.offsetOf("pool") }

/** Name, symbol and metadata URI of a coin. */
export type CoinTexts = readonly [name: string, symbol: string, uri: string]

/** The address that signs when a mint is created. */
export const mintAuthorityOf = (derive: DeriveAddress): Address => derive(PUMP_PROGRAM, [utf8("mint-authority")])

/** The data of `create`. */
export const encodePumpCreate = (texts: CoinTexts, creator: Address): Uint8Array =>
  pack(u64(CREATE), ...texts.map(text), key(creator))

/** The data of `migrate`. */
export const encodePumpMigrate = (): Uint8Array => u64(MIGRATE)

/** Encodes the event `CreateEvent` of a coin created by its payer. */
export const encodePumpCreateEvent = (coin: {
  readonly texts: CoinTexts
  readonly mint: Mint
  readonly curve: Address
  readonly creator: Address
  readonly timestamp: number
  readonly virtualTokens: bigint
  readonly virtualQuote: bigint
  readonly realTokens: bigint
  readonly supply: bigint
}): Uint8Array =>
  pack(
    u64(CREATE_EVENT),
    ...coin.texts.map(text),
    ...[coin.mint, coin.curve, coin.creator, coin.creator].map(key),
    i64(coin.timestamp),
    ...[coin.virtualTokens, coin.virtualQuote, coin.realTokens, coin.supply].map(u64)
  )

/**
 * Offset after the three texts of `CreateEvent`, each preceded by its length. Null when the body ends before that.
 */
const afterTexts = (body: Uint8Array): number | null => {
  let offset = 0
  for (let texts = 0; texts < 3; texts++) {
    if (offset + 4 > body.length) {
      return null
    }
    offset += 4 + readU32(body, offset)
  }
  return offset
}

/**
 * Offsets of the addresses after the texts of `CreateEvent`: mint, curve, payer and creator. Events of earlier
 * program versions end with the payer.
 */
const createdAt = { mint: 0, curve: 32, payer: 64, creator: 96, quoteMint: 202, holderRewards: 250 } as const

const addressAt = (body: Uint8Array, offset: number): Address | null =>
  body.length < offset + 32 ? null : readAddress(body, offset)

/** Curves that are paid in lamports have no quote mint. */
const NO_MINT: Address = Address.make("11111111111111111111111111111111")

/** What the newest fields of `CreateEvent` state. Events of earlier program versions end before them. */
const termsOf = (body: Uint8Array, start: number): Pick<Launch, "holderRewards" | "quoteMint"> => {
  const quote = addressAt(body, start + createdAt.quoteMint)
  const rewards = body[start + createdAt.holderRewards]
  return {
    ...(quote !== null && { quoteMint: quote === NO_MINT ? SOL : quote }),
    ...(rewards !== undefined && { holderRewards: rewards === 1 })
  }
}

/** Decodes launches and migrations of Pump.fun. */
export const pumpCurveLaunches: Launchpad = {
  launchpad,
  dex: pumpCurve.dex,
  programId: PUMP_PROGRAM,
  event: ({ tag, body }) => {
    if (tag === pumpMigrationEvent.tag) {
      const mint = addressAt(body, migrationAt.mint)
      return mint === null ? null : { event: "migrated", launchpad, mint, pool: addressAt(body, migrationAt.pool) }
    }
    const start = tag === CREATE_EVENT ? afterTexts(body) : null
    const mint = start === null ? null : addressAt(body, start + createdAt.mint)
    if (start === null || mint === null) {
      return null
    }
    const creator = addressAt(body, start + createdAt.creator) ?? addressAt(body, start + createdAt.payer)
    const pool = addressAt(body, start + createdAt.curve)
    return { event: "created", launchpad, mint, pool, ...(creator !== null && { creator }), ...termsOf(body, start) }
  }
}
