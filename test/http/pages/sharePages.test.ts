import { assert, describe, it } from "@effect/vitest"
import type { Callout } from "../../../src/api/schemas/Callout.ts"
import { calloutPage } from "../../../src/http/pages/sharePages.ts"
import { attacks, badUrls, slyUrls } from "../middleware/attacks.ts"
import { readMarkup } from "./markup.ts"
import { meta, namesOf, shown, writtenBy } from "./sharedCallout.ts"

const BASE = "https://fathom.example"
const page = (callout: Callout) => readMarkup(calloutPage(callout, BASE).text)

describe("a share page", () => {
  it("shows author, token and time, as text and as data", () => {
    const markup = page(shown({ body: "First line.\nSecond & last." }))
    assert.include(markup.text, "Fern Network")
    assert.include(markup.text, "@mira")
    assert.include(markup.text, "First line.\nSecond & last.")
    assert.include(markup.text, "$1.23K")
    assert.include(markup.text, "$0.84")
    const times = markup.elements.filter(({ name }) => name === "time").map(({ attributes }) => attributes["datetime"])
    assert.include(times, "2026-10-01T12:00:00.000Z")
    assert.include(times, "2026-10-08T12:00:00.000Z")
    const exact = markup.elements.filter(({ name }) => name === "data").map(({ attributes }) => attributes["value"])
    assert.include(exact, "1234.500000001")
  })

  it("carries metadata for link previews", () => {
    const markup = page(shown({ body: `${"word ".repeat(100)}` }))
    assert.strictEqual(meta(markup, "og:title"), "$FERN called by Mira")
    assert.strictEqual(meta(markup, "og:url"), `${BASE}/c/co_shown`)
    assert.strictEqual(meta(markup, "og:image"), "https://images.example/fern.png")
    assert.strictEqual(meta(markup, "og:type"), "article")
    assert.strictEqual(meta(markup, "twitter:card"), "summary")
    assert.strictEqual(meta(markup, "twitter:description"), meta(markup, "og:description"))
    assert.match(meta(markup, "og:description") ?? "", /^(?:word ){30,}.*…$/u)
    assert.isAtMost(meta(markup, "og:description")?.length ?? 0, 200)
    const canonical = markup.elements.find(({ attributes }) => attributes["rel"] === "canonical")
    assert.strictEqual(canonical?.attributes["href"], `${BASE}/c/co_shown`)
  })

  it("names no address when its own address is unknown", () => {
    const markup = readMarkup(calloutPage(shown(), null).text)
    assert.isUndefined(meta(markup, "og:url"))
    assert.notInclude(calloutPage(shown(), null).text, "canonical")
  })

  it("works without optional values", () => {
    const markup = page(
      shown({
        creator: { id: "u", username: "u", displayName: "U", avatarUrl: null },
        tokenSymbol: null,
        tokenName: null,
        tokenImageUrl: null,
        priceUsdAtCreate: null
      })
    )
    assert.match(meta(markup, "og:title") ?? "", /^\w{4}…\w{4} called by U$/u)
    assert.isUndefined(meta(markup, "og:image"))
    assert.include(markup.text, "Unknown")
    assert.notInclude(markup.text, "null")
  })

  const plain = page(shown())

  for (const attack of attacks) {
    it(`shows ${JSON.stringify(attack)} as text wherever it stands`, () => {
      const { origins, text } = calloutPage(writtenBy(attack), BASE)
      const markup = readMarkup(text)
      // The pictures are gone, because no attack is an https URL; otherwise the page is made of what it always is.
      const usual = namesOf(plain).filter((name) => name !== "img" && name !== "meta")
      assert.deepStrictEqual(
        namesOf(markup).filter((name) => name !== "img" && name !== "meta"),
        usual
      )
      assert.strictEqual(
        namesOf(markup).filter((name) => name === "meta").length,
        namesOf(plain).filter((name) => name === "meta").length - 2
      )
      assert.deepStrictEqual(origins, [])
      const written = attack.replaceAll(/[\u202a-\u202e\u2066-\u2069]/gu, "")
      assert.isAtLeast(markup.text.split(written).length - 1, 4)
      for (const { attributes } of markup.elements) {
        for (const [key, value] of Object.entries(attributes)) {
          assert.notMatch(key, /^on|^style$|^srcdoc$/u)
          if (key === "href" || key === "src") {
            assert.match(value, /^(?:\/docs$|\/assets\/|https:\/\/)/u)
          }
        }
      }
    })
  }

  for (const url of badUrls) {
    it(`shows no picture from ${JSON.stringify(url)}`, () => {
      const { origins, text } = calloutPage(writtenBy(url), BASE)
      const markup = readMarkup(text)
      assert.deepStrictEqual(origins, [])
      assert.strictEqual(namesOf(markup).filter((name) => name === "img").length, 1)
      assert.isUndefined(meta(markup, "og:image"))
    })
  }

  for (const url of slyUrls) {
    it(`keeps ${JSON.stringify(url)} in its place`, () => {
      const { origins, text } = calloutPage(shown({ tokenImageUrl: url }), BASE)
      const markup = readMarkup(text)
      assert.deepStrictEqual(
        namesOf(markup).filter((name) => name !== "img" && name !== "meta"),
        namesOf(plain).filter((name) => name !== "img" && name !== "meta")
      )
      for (const origin of origins) {
        assert.match(origin, /^https:\/\/[\w.-]+(?::\d+)?$/u)
      }
    })
  }
})
