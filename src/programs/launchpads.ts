import type { Launchpad } from "./Launchpad.ts"
import { meteoraDbcLaunches } from "./meteora/dbcLaunches.ts"
import { pumpCurveLaunches } from "./pump/curveLaunches.ts"
import { raydiumLaunchLabLaunches } from "./raydium/launchLabLaunches.ts"

/** Every program whose launches are decoded: one line a launchpad. */
export const launchpads: ReadonlyArray<Launchpad> = [pumpCurveLaunches, meteoraDbcLaunches, raydiumLaunchLabLaunches]
