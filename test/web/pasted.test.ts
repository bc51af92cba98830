import { assert, describe, it } from "@effect/vitest"
import { linesOf } from "../../src/web/tracker/lines.ts"

describe("a pasted list of wallets", () => {
  it("is split at lines and commas, with the rest of a line as the label", () => {
    assert.deepStrictEqual(linesOf(" one  The first one \r\n\ntwo, three;four"), [
      { wallet: "one", label: "The first one" },
      { wallet: "two" },
      { wallet: "three" },
      { wallet: "four" }
    ])
  })

  it("contains each wallet once, with its first label", () => {
    assert.deepStrictEqual(linesOf("one a\none b\ntwo"), [{ wallet: "one", label: "a" }, { wallet: "two" }])
    assert.deepStrictEqual(linesOf(" \n, "), [])
  })
})
