/** Writes the past of the default market to the file that is named on the command line. The build runs it. */
import { Effect } from "effect"
import { renameSync, writeFileSync } from "node:fs"
import { simulatorConfig } from "./Simulator.ts"
import { startOf } from "./traders/startChain.ts"
import { makePast } from "./past/makePast.ts"
import { writePast } from "./past/pastFile.ts"

const [path] = process.argv.slice(2)
if (path === undefined) {
  throw new Error("name the file to write")
}
const settings = Effect.runSync(simulatorConfig)
const past = makePast(settings, startOf(Date.now()))
// A file is whole or not there.
writeFileSync(`${path}.part`, writePast(past))
renameSync(`${path}.part`, path)
