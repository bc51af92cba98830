import { assert, describe, it } from "@effect/vitest"
import { errorDetail, publicDetail } from "../../src/domain/errorDetail.ts"

it("names an error and its causes in one line", () => {
  const cause = Object.assign(new Error(""), { code: "ECONNREFUSED" })
  assert.strictEqual(errorDetail(new Error("no connection", { cause })), "no connection: ECONNREFUSED")
  assert.strictEqual(errorDetail("closed"), "closed")
})

describe("words that anyone may read", () => {
  it.each([
    ["https://node.test:8899/v2/0123secret?api-key=hunter2 answered 500", "https://node.test:8899 answered 500"],
    ["postgres://me:hunter2@db:5432/fathom refused", "postgres://db:5432 refused"],
    ["no account JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN", "no account …"],
    ["two\n  lines", "two lines"]
  ])("hide what may be a secret: %s", (text, shown) => {
    assert.strictEqual(publicDetail(new Error(text)), shown)
  })

  it("are at most 200 characters", () => {
    assert.lengthOf(publicDetail("word ".repeat(100)), 200)
  })
})
