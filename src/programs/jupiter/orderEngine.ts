/**
 * Fills of Jupiter's order engine (RFQ): a taker and a market maker both sign and exchange tokens without a pool. The
 * price is the maker's, so it is charted and never quoted. Account order: jup-ag/rfq-webhook-toolkit, instruction
 * `fill`.
 */
import { Address } from "../../domain/Address.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

const FILL = tagOf("a860b7a35c0a28a0")
const MAKER_AT = 1

/** Label of fills, which is also the label of both sides' net trades. */
export const JUPITER_RFQ_DEX = "jupiter-rfq"

export const JUPITER_ORDER_ENGINE = Address.make("61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH")

/**
 * Decodes fills as swaps of the taker, with the maker in place of a pool, so that each fill is in candles and volume
 * once. A fill that is paid in bare lamports moves only one token and is left out.
 */
export const jupiterRfqSwaps: SwapDecoder = {
  dex: JUPITER_RFQ_DEX,
  programId: JUPITER_ORDER_ENGINE,
  quotable: false,
  hops: (data, accounts) => {
    const maker = tagAt(data, 0) === FILL ? accounts[MAKER_AT] : undefined
    return maker === undefined ? [] : [{ pool: maker, vaults: null, maker }]
  }
}
