import { assert, describe, it } from "@effect/vitest"
import { escapeHidden, isOneEditAway, plainText, skeletonOf, wordsOf } from "../../../src/market/reads/matchingText.ts"

describe("texts as they are matched", () => {
  it("have no case, no hidden characters and one space between words", () => {
    assert.strictEqual(plainText("  Bonk\u200b  \u202eINU\u202c\ufe0f "), "bonk inu")
    assert.strictEqual(plainText("ＢＯＮＫ"), "bonk")
    assert.strictEqual(plainText("$WIF"), "wif")
    assert.strictEqual(plainText("$"), "$")
    assert.strictEqual(plainText("\u202e\u200b"), "")
    assert.strictEqual(plainText("\u{e0041}a"), "a")
  })

  it("are equal as skeletons when they look alike", () => {
    const look = skeletonOf("USDC")
    // Cyrillic Ѕ and С, a full-width U, an accent, a zero-width joiner, mathematical letters.
    for (const other of [
      "U\u0405D\u0421",
      "\uff35SDC",
      "USD\u0107",
      "U\u200dSDC",
      "\u{1d414}\u{1d412}\u{1d403}\u{1d402}"
    ]) {
      assert.strictEqual(skeletonOf(other), look)
    }
    assert.strictEqual(skeletonOf("B0NK"), skeletonOf("BONK"))
    assert.strictEqual(skeletonOf("P0PCAT"), skeletonOf("РОРСАТ"))
    assert.strictEqual(skeletonOf("S0LlE"), skeletonOf("SOLIE"))
    assert.notStrictEqual(skeletonOf("BONK"), skeletonOf("BANK"))
    assert.strictEqual(skeletonOf("BARN"), skeletonOf("BAM"))
    // Greek capitals, which look like other letters than their lower case; Lisu and Coptic letters.
    for (const [other, latin] of [
      ["\u0392\u039f\u039d\u039a", "BONK"],
      ["\u0397\u03a5\u03a1\u0395", "HYPE"],
      ["\u0396\u039f\u039f\u039c", "ZOOM"],
      ["USD\u03a4", "USDT"],
      ["\ua4e2\ua4f3\ua4e1\ua4ee\ua4e0\ua4ee", "SOLANA"],
      ["\u2c9f\u2c9b\u2c89", "ONE"],
      ["U$DC", "USDC"]
    ] as const) {
      assert.strictEqual(skeletonOf(other), skeletonOf(latin), other)
    }
    assert.strictEqual(skeletonOf("\u03b7\u03bd"), skeletonOf("nv"))
  })

  it("are cut into words at spaces and punctuation, and keep pictures", () => {
    assert.deepStrictEqual(wordsOf("dog-wif (hat) 🎩"), ["dog", "wif", "hat", "🎩"])
  })

  it("show hidden characters as escapes, and nothing else", () => {
    assert.strictEqual(escapeHidden("a\u202eb\u200b\u{e0041} é🎩"), "a\\u{202e}b\\u{200b}\\u{e0041} é🎩")
  })
})

describe("one edit", () => {
  it("is an insertion, a deletion, a replacement or an exchange of neighbours", () => {
    for (const [a, b] of [
      ["bonk", "bonk"],
      ["bonk", "bnk"],
      ["bonk", "boonk"],
      ["bonk", "bank"],
      ["bonk", "bnok"],
      ["bonk", "onk"],
      ["bonk", "bonkk"]
    ] as const) {
      assert.isTrue(isOneEditAway(a, b), `${a} ${b}`)
      assert.isTrue(isOneEditAway(b, a), `${b} ${a}`)
    }
    for (const [a, b] of [
      ["bonk", "bn"],
      ["bonk", "banq"],
      ["bonk", "knob"],
      ["bonk", "nbok"]
    ] as const) {
      assert.isFalse(isOneEditAway(a, b), `${a} ${b}`)
    }
  })
})
