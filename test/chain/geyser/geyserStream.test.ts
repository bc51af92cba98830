import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import type { StreamEnd } from "../../../src/chain/geyser/geyserMessages.ts"
import { endOf } from "../../../src/chain/geyser/geyserStream.ts"

const reasonOf = (code: number, details: string, from: number | null = 7): StreamEnd["reason"] =>
  endOf({ code, details }, from).reason

describe("the end of a Geyser stream", () => {
  it.each([
    [status.OUT_OF_RANGE, "broadcast from 7 is not available, last available: 12"],
    [status.INTERNAL, "broadcast from 7 is not available, last available: 12"],
    [status.INTERNAL, "from_slot is not supported"],
    [status.INVALID_ARGUMENT, "fromSlot 7 is too old"],
    [status.INVALID_ARGUMENT, "failed to get replay position for slot 7"],
    [status.INVALID_ARGUMENT, "first available slot: 12"]
  ])("is out of range with code %s: %s", (code, details) => {
    assert.strictEqual(reasonOf(code, details), "range")
    assert.notStrictEqual(reasonOf(code, details, null), "range")
  })

  it.each([
    [status.UNAVAILABLE, "upstream not available"],
    [status.UNAVAILABLE, "from_slot: no connection established"],
    [status.INTERNAL, "failed to get replay response"],
    [status.INTERNAL, "the service is not available"],
    [status.UNKNOWN, "replay worker ended"],
    [status.CANCELLED, "replay from 7 is not available"]
  ])("is a passing failure with code %s: %s", (code, details) => {
    assert.strictEqual(reasonOf(code, details), "failure")
  })

  it.each([
    [status.INVALID_ARGUMENT, "failed to create filter: max amount of filters reached"],
    [status.PERMISSION_DENIED, "owner filters are not part of the plan"],
    [status.RESOURCE_EXHAUSTED, "too many streams"],
    [status.UNAUTHENTICATED, "no valid token"],
    [status.UNIMPLEMENTED, "unknown method"]
  ])("is a refusal with code %s: %s", (code, details) => {
    assert.strictEqual(reasonOf(code, details), "refused")
    assert.strictEqual(reasonOf(code, details, null), "refused")
  })
})
