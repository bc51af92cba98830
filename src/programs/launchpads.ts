import type { Launchpad } from "./interface/Launchpad.ts"
import { meteoraDbcLaunches } from "./meteora/dbcLaunches.ts"
import { pumpCurveLaunches } from "./pump/curveLaunches.ts"
import { raydiumLaunchLabLaunches } from "./raydium/launchLabLaunches.ts"

/** All launchpads whose launches are decoded, one per line. */
export const launchpads: ReadonlyArray<Launchpad> = [pumpCurveLaunches, meteoraDbcLaunches, raydiumLaunchLabLaunches]
