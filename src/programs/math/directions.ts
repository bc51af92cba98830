import type { Unpriceable } from "../interface/Program.ts"
import { isFailure } from "../layout/unpriceable.ts"

/** A value for each direction of a pool. Down sells A. */
export interface Directions<A> {
  readonly down: A
  readonly up: A
}

/** Reads both directions. If one cannot be read, returns the first reason. */
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
