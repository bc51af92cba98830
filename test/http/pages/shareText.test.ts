import { assert, describe, it } from "@effect/vitest"
import { countText, excerpt, initial, priceText, usdText, visible } from "../../../src/http/pages/shareText.ts"

const FAMILY = "👨‍👩‍👧‍👦"

describe("words", () => {
  it("lose invisible characters and characters that change the direction of text", () => {
    assert.strictEqual(visible("a\u202eb\u2066c\u2069\u200ed\u0007\ne"), "abcd\ne")
    assert.strictEqual(visible("שלום – مرحبا – 你好"), "שלום – مرحبا – 你好")
  })

  it("are cut between characters, on one line", () => {
    assert.strictEqual(excerpt(" a\n\n b ", 10), "a b")
    assert.strictEqual(excerpt("exactly ten", 11), "exactly ten")
    assert.strictEqual(excerpt("exactly ten", 10), "exactly t…")
    assert.strictEqual(excerpt("one two", 5), "one…")
    assert.strictEqual(excerpt(FAMILY.repeat(4), 3), `${FAMILY.repeat(2)}…`)
  })

  it("begin with a character, or with nothing that has one", () => {
    assert.strictEqual(initial("mira"), "M")
    assert.strictEqual(initial(` ${FAMILY}x`), FAMILY)
    assert.strictEqual(initial("\u202e"), "?")
  })
})

describe("amounts", () => {
  it("are rounded for reading", () => {
    assert.strictEqual(usdText(0n), "$0.00")
    assert.strictEqual(usdText(456_030_000_000n), "$456.03")
    assert.strictEqual(usdText(18_646_850_000_000n), "$18.65K")
    assert.strictEqual(usdText(2_500_000_000_000_000n), "$2.5M")
    assert.strictEqual(priceText("0.000023134101"), "$0.00002313")
    assert.strictEqual(priceText("0.5"), "$0.50")
    assert.strictEqual(priceText("1234.567"), "$1,234.57")
    assert.strictEqual(countText(9999), "9,999")
    assert.strictEqual(countText(12_345n), "12.3K")
  })
})
