import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { closedAmmSwaps } from "../../src/programs/charted/closedAmms.ts"
import { chartedVenues, closedVenues, quotableVenues, venuesDescription } from "../../src/api/venues.ts"
import { programs, swapDecoders } from "../../src/programs/registry.ts"
import { unprovenAmmSwaps } from "../../src/programs/charted/unprovenAmms.ts"

const rows = readFileSync("docs/numbers.md", "utf8")
  .split(/\n\| venues +\| quotes +\|/u)[1]
  ?.split("\n")
  .slice(2, 5)
  .map((row) => Array.from(row.split("|")[1]?.matchAll(/`([^`]+)`/gu) ?? [], ([, name]) => name))

const named = (all: ReadonlyArray<{ readonly dex: string }>) => all.map(({ dex }) => dex)

it("the API document lists every venue of the registry, by whether it is quoted", () => {
  assert.deepStrictEqual(Array.from(quotableVenues), named(programs))
  assert.deepStrictEqual(Array.from(chartedVenues), named(unprovenAmmSwaps))
  assert.deepStrictEqual(Array.from(closedVenues), named(closedAmmSwaps))
  const document = readFileSync("src/api/openapi.json", "utf8")
  assert.include(document, venuesDescription("Only pools of these venues"))
  assert.include(document, venuesDescription("Only these venues"))
})

it("docs/numbers.md lists every venue of the registry, by whether it is quoted", () => {
  assert.deepStrictEqual(rows, [named(programs), named(closedAmmSwaps), named(unprovenAmmSwaps)])
  assert.sameMembers(rows?.flat() ?? [], named(swapDecoders))
})
