/** Follows and fills for tests. */
import bs58 from "bs58"
import type { CopyFill, Execution, FilledCopy, NewFollow } from "../../../src/api/schemas/Copying.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Signature } from "../../../src/domain/Signature.ts"
import { byPosition, CopyPosition } from "../../../src/wallets/copying/positions.ts"
import { addressOf } from "../../callouts/callouts.ts"

/** Time of the first copy. */
export const START = Date.UTC(2026, 9, 1, 12)

const FIRST_SLOT = 371_204_000

/** A unique signature per number. */
export const signatureOf = (number: number): Signature =>
  Signature.make(bs58.encode(Uint8Array.from({ length: 64 }, (_, i) => (i < 4 ? (number >>> (8 * i)) & 255 : 7))))

/** An active follow of a fixed tenth of a SOL. */
export const followOf = (id: string, other: Partial<NewFollow> = {}): NewFollow => ({
  id,
  accountId: "acct_a",
  leader: { wallet: addressOf(900), label: "Low Water" },
  ownedWallet: { walletId: "w_main", family: "solana", address: addressOf(901) },
  status: "active",
  sizing: { mode: "fixed", amount: 100_000_000n, ratioPct: null, maxPerTrade: null, asset: "sol" },
  filters: { buys: true, sells: true, minLeaderUsd: null, maxMarketCapUsd: null, slippageBps: 100 },
  createdAtMs: START,
  updatedAtMs: START,
  stoppedAtMs: null,
  ...other
})

/** Fields of a filled copy; the others derive from its number, which is also its order. */
export interface Copied {
  readonly followId: string
  readonly number: number
  readonly side: "buy" | "sell"
  readonly mint?: CopyFill["mint"]
  readonly tokens: bigint
  readonly usdNanos: bigint | null
  readonly feeUsdNanos?: bigint | null
  readonly atMs?: number
}

const executionOf = ({
  feeUsdNanos = 0n,
  mint = addressOf(1),
  number,
  side,
  tokens,
  usdNanos,
  ...rest
}: Copied): Execution => {
  const token = { mint, amount: tokens }
  const money = { mint: SOL, amount: 5_000_000n }
  const [given, got] = side === "buy" ? [money, token] : [token, money]
  return {
    signature: signatureOf(10_000 + number),
    slot: FIRST_SLOT + number + 3,
    atMs: rest.atMs ?? START + number * 1000 + 1200,
    inMint: given.mint,
    inAmount: given.amount,
    outMint: got.mint,
    outAmount: got.amount,
    priceUsd: "0.0001298",
    valueUsdNanos: usdNanos,
    feeUsdNanos
  }
}

/** A filled copy, twelve hundred milliseconds after its leader's trade. */
export const copyOf = (copied: Copied, other: Partial<CopyFill> = {}): CopyFill => {
  const { followId, mint = addressOf(1), number, side } = copied
  const execution = executionOf(copied)
  return {
    id: `fl_${followId.slice(3)}_${String(number).padStart(5, "0")}`,
    followId,
    mint,
    side,
    status: "filled",
    reason: null,
    leader: {
      wallet: addressOf(900),
      signature: signatureOf(number),
      slot: FIRST_SLOT + number,
      atMs: execution.atMs - 1200,
      priceUsd: "0.000131",
      valueUsdNanos: 655_000_000_000n
    },
    execution,
    ...other
  }
}

/** The positions made by these copies. */
export const copyPositions = (history: ReadonlyArray<FilledCopy>): ReadonlyArray<CopyPosition> =>
  byPosition(history).flatMap((copies) => {
    const [first] = copies
    if (first === undefined) {
      return []
    }
    const position = new CopyPosition(first)
    position.take(copies)
    return [position]
  })
