import { assert, describe, it } from "@effect/vitest"
import { retryAfterMs } from "../../src/operations/retryAfter.ts"

describe("retryAfterMs", () => {
  it("reads seconds and dates, is bounded by five minutes, and is null for anything else", () => {
    const now = Date.UTC(2026, 0, 1)
    assert.deepStrictEqual(
      [undefined, "3", "999999", "Thu, 01 Jan 2026 00:00:05 GMT", "Wed, 31 Dec 2025 00:00:00 GMT", "soon", "-1"].map(
        (header) => retryAfterMs(header, now)
      ),
      [null, 3000, 300_000, 5000, 0, null, null]
    )
  })
})
