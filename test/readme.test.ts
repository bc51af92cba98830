import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8")

describe("the readme", () => {
  it("names only commands that the package has", () => {
    const named = [...read("README.md").matchAll(/npm run ([\w:]+)|`(bench:\w+)`/g)].map(
      (found) => found[1] ?? found[2]
    )
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(read("package.json"))
    assert.isAbove(named.length, 5)
    assert.deepStrictEqual(
      named.filter((name) => name === undefined || !(name in scripts)),
      []
    )
  })
})
