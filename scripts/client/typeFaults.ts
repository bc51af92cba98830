/** Compares the declarations of `fathom-client` with the types of the client it is built from. */
import { execFileSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Each function compiles only if the declared type accepts every value of the other type. */
const program = (declared: string) => `
import type * as own from ${JSON.stringify(join(root, "src/client/index.ts"))}
import type { Plain } from ${JSON.stringify(join(root, "src/client/createClient.ts"))}
import type * as small from ${JSON.stringify(declared)}

export const client = (given: own.Client): small.Client => given
export const options = (given: small.ClientOptions): own.ClientOptions => given
export const error = (given: own.FathomError): small.FathomError => given
export const frame = (given: own.Frame): small.Frame => given
export const tracker = (given: own.TrackerEvent): small.TrackerEvent => given
export const market = (given: own.MarketEvent): small.MarketEvent => given
export const subscription = (given: small.MarketSubscription): Plain<own.MarketSubscription> => given
export const watch = (given: small.WatchOptions): own.WatchOptions => given
export const exchange = (given: own.Exchange): small.Exchange => given
export const units: typeof small.toAtomic = null as unknown as typeof own.toAtomic
export const text: typeof small.fromAtomic = null as unknown as typeof own.fromAtomic
`

/** Messages of the compiler about the declarations; none when they fit. */
export const typeFaults = (declared: string): ReadonlyArray<string> => {
  const file = join(root, `scripts/client/check-${process.pid}.ts`)
  const settings = join(root, `scripts/client/check-${process.pid}.json`)
  writeFileSync(file, program(declared))
  const compilerOptions = { lib: ["esnext", "dom"], skipLibCheck: false }
  writeFileSync(
    settings,
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: [file], exclude: [] })
  )
  try {
    execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", settings], { encoding: "utf8" })
    return []
  } catch (failure) {
    return [String((failure as { readonly stdout?: unknown }).stdout ?? failure).trim()]
  } finally {
    rmSync(file)
    rmSync(settings)
  }
}
