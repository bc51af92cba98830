/** Callouts and trades for tests. */
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import type { AttributedTrade, NewCallout } from "../../src/api/schemas/Callout.ts"

/** The address with this number. */
export const addressOf = (number: number): Address =>
  addressFromBytes(Uint8Array.from({ length: 32 }, (_, i) => (i < 4 ? (number >>> (8 * i)) & 255 : 9)))

/** Start time of these callouts. */
export const START = Date.UTC(2026, 9, 1, 12)

/** A callout of a week from `START`. */
export const calloutOf = (id: string, other: Partial<NewCallout> = {}): NewCallout => ({
  id,
  mint: addressOf(1),
  body: `What ${id} has to say.`,
  createdAtMs: START,
  expiresAtMs: START + 7 * 86_400_000,
  creator: { id: "u_1", username: "mira", displayName: "Mira", avatarUrl: "https://images.example/mira.png" },
  tokenSymbol: "FERN",
  tokenName: "Fern Network",
  tokenImageUrl: "https://images.example/fern.png",
  priceUsdAtCreate: "0.84",
  ...other
})

/** A trade worth this many dollars. */
export const tradeOf = (
  tradeId: string,
  calloutId: string,
  usd: number,
  other: Partial<AttributedTrade> = {}
): AttributedTrade => ({
  tradeId,
  calloutId,
  trader: addressOf(100),
  volumeUsdNanos: BigInt(usd) * 1_000_000_000n,
  earnedUsdNanos: BigInt(usd) * 1_000_000n,
  points: BigInt(usd),
  ...other
})
