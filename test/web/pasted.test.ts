import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "../../src/web/tracker/lines.ts"

describe("a pasted list of wallets", () => {
  it("is read by lines and commas, with the rest of a line as the label", () => {
    assert.deepStrictEqual(linesOf(" one  The first one \r\n\ntwo, three;four"), [
      { wallet: "one", label: "The first one" },
      { wallet: "two" },
      { wallet: "three" },
      { wallet: "four" }
    ])
  })

  it("has every wallet once, under its first label", () => {
    assert.deepStrictEqual(linesOf("one a\none b\ntwo"), [{ wallet: "one", label: "a" }, { wallet: "two" }])
    assert.deepStrictEqual(linesOf(" \n, "), [])
  })
})
