import type { Unpriceable } from "../interface/Program.ts"
import { isFailure } from "../layout/unpriceable.ts"

/** Both directions of a pool. Down sells A. */
export interface Directions<A> {
  readonly down: A
  readonly up: A
}

/** Reads both directions. Returns the first reason when one of them cannot be read. */
export const bothDirections = <A extends object>(
  read: (down: boolean) => A | Unpriceable
): Directions<A> | Unpriceable => {
  const down = read(true)
  if (isFailure(down)) {
    return down
  }
  const up = read(false)
  return isFailure(up) ? up : { down, up }
}
