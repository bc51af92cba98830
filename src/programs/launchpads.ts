import type { Launchpad } from "./interface/Launchpad.ts"
import { meteoraDbcLaunches } from "./meteora/dbcLaunches.ts"
import { pumpCurveLaunches } from "./pump/curveLaunches.ts"
import { raydiumLaunchLabLaunches } from "./raydium/launchLabLaunches.ts"

/** Every launchpad whose launches are decoded, one line each. */
export const launchpads: ReadonlyArray<Launchpad> = [pumpCurveLaunches, meteoraDbcLaunches, raydiumLaunchLabLaunches]
