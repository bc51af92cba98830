/** The programs whose swaps can be executed: every quoted program, in the order of the registry. */
import { dammV2Venue, dbcVenue, dlmmVenue } from "./meteoraVenues.ts"
import { whirlpoolVenue } from "./orcaVenue.ts"
import { curveVenue, pumpSwapVenue } from "./pumpVenues.ts"
import { ammV4Venue, clmmVenue, cpmmVenue } from "./raydiumVenues.ts"
import type { Venue } from "./swapVenue.ts"

export const venues: ReadonlyArray<Venue> = [
  ammV4Venue,
  cpmmVenue,
  pumpSwapVenue,
  curveVenue,
  clmmVenue,
  whirlpoolVenue,
  dlmmVenue,
  dammV2Venue,
  dbcVenue
]
