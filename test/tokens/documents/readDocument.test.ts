import { assert, describe, it } from "@effect/vitest"
import { documentUrl } from "../../../src/tokens/documents/documentUrl.ts"
import { plainText } from "../../../src/tokens/documents/plainText.ts"
import { readDocument } from "../../../src/tokens/documents/readDocument.ts"

const CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
const ID = "bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U"
const gateways = { ipfs: "http://127.0.0.1:8080/ipfs", arweave: "https://arweave.example" }

const read = (json: unknown) => readDocument(JSON.stringify(json), (uri) => documentUrl(uri, gateways)?.url ?? null)

describe("the text of a document", () => {
  it.each([
    ["a control character", "a\u0000b\u0007c", "a b c"],
    ["line ends", "a\r\n\u2028b", "a b"],
    ["a change of direction", "\u202etxt.exe\u2066", "txt.exe"],
    ["a character of no width", "US\u200bDC\ufeff", "USDC"],
    ["half a character", "a\ud83d", "a"],
    ["spaces around", "  a b  ", "a b"]
  ])("has no %s", (_name, text, expected) => {
    assert.strictEqual(plainText(text), expected)
  })

  it("keeps the joiner of emoji", () => {
    assert.strictEqual(plainText("\u{1f469}\u200d\u{1f680}"), "\u{1f469}\u200d\u{1f680}")
  })
})

describe("a document", () => {
  it("is read as launchpads write it", () => {
    assert.deepStrictEqual(
      read({
        name: "Fern",
        symbol: "FERN",
        description: "A fern.",
        image: `ipfs://${CID}/a b.png`,
        twitter: "https://x.com/fern",
        website: "https://fern.example/?a=1"
      }),
      {
        name: "Fern",
        symbol: "FERN",
        description: "A fern.",
        // The gateway of this test is not https, so its link is not shown.
        imageUrl: null,
        links: { website: "https://fern.example/?a=1", twitter: "https://x.com/fern", telegram: null, discord: null }
      }
    )
  })

  it("is read by the Metaplex standard", () => {
    const document = read({
      image: `ar://${ID}`,
      external_url: "https://fern.example",
      extensions: { telegram: "https://t.me/fern", discord: "https://discord.gg/fern" }
    })
    assert.strictEqual(document?.imageUrl, `https://arweave.example/${ID}`)
    assert.deepStrictEqual(document?.links, {
      website: "https://fern.example/",
      twitter: null,
      telegram: "https://t.me/fern",
      discord: "https://discord.gg/fern"
    })
  })

  it("bounds its texts", () => {
    const document = read({ name: "n".repeat(5000), symbol: "s".repeat(5000), description: "\u{1f600}".repeat(5000) })
    assert.lengthOf(document?.name ?? "", 128)
    assert.lengthOf(document?.symbol ?? "", 32)
    assert.lengthOf(document?.description ?? "", 2000)
    assert.isTrue(read({ description: `d${"\u{1f600}".repeat(5000)}` })?.description?.isWellFormed())
  })

  it.each([
    "javascript:alert(1)",
    "http://plain.example/",
    "data:text/html,<script>",
    "//fern.example",
    "https://user:password@fern.example/",
    `https://fern.example/${"x".repeat(1025)}`,
    "@fern",
    "",
    42,
    null,
    { href: "https://fern.example" }
  ])("has no link of %s", (link) => {
    const document = read({ image: link, website: link, twitter: link })
    assert.isNull(document?.imageUrl)
    assert.deepInclude(document?.links, { website: null, twitter: null })
  })

  it.each(["", "{", "[]", "null", '"text"', "7"])("is none for %s", (text) => {
    assert.isNull(readDocument(text, () => null))
  })
})

describe("the URL of a document", () => {
  it.each([
    [`ipfs://${CID}`, `http://127.0.0.1:8080/ipfs/${CID}`],
    [`ipfs://ipfs/${CID}/a/b.json`, `http://127.0.0.1:8080/ipfs/${CID}/a/b.json`],
    [`ipfs://${CID}/a%20b?c`, null],
    [`ipfs://${CID}/a%20b`, `http://127.0.0.1:8080/ipfs/${CID}/a%20b`],
    [`ar://${ID}`, `https://arweave.example/${ID}`]
  ])("leads to a gateway for %s", (uri, url) => {
    assert.deepStrictEqual(documentUrl(uri, gateways), url === null ? null : { url, isGateway: true })
  })

  it("is the token's own URL for https, whose host is not trusted", () => {
    const uri = "https://127.0.0.1:8080/ipfs/"
    assert.deepStrictEqual(documentUrl(uri, gateways), { url: uri, isGateway: false })
  })

  it.each([
    `ipfs://${CID}/../../api/v0/id`,
    `ipfs://${CID}/..`,
    `ipfs://${CID}/%2e%2e/%2e%2e/api`,
    `ipfs://${CID}/.%2e/api`,
    `ipfs://${CID}/a%2f..%2f..%2fapi`,
    `ipfs://${CID}/a\\..\\api`,
    `ipfs://${CID}/%zz`,
    `ipfs://${CID}//api`,
    "ipfs://short",
    "ipfs://../api/v0/id",
    `ar://${ID}x`,
    "http://fern.example/a.json",
    "ftp://fern.example/a.json",
    "file:///etc/passwd",
    "a.json"
  ])("is refused for %s", (uri) => {
    assert.isNull(documentUrl(uri, gateways))
  })
})
