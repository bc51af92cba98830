import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import { SessionStore } from "../../../src/access/accounts/SessionStore.ts"
import { command } from "../../../src/app/commands/accounts.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"

const run = (...line: ReadonlyArray<string>) => Command.runWith(command, { version: "0.0.0" })(line)

const printed = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
  const before = (yield* TestConsole.logLines).length
  yield* run(...line)
  return (yield* TestConsole.logLines).slice(before).map(String).join("\n")
})
const refused = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
  const before = (yield* TestConsole.errorLines).length
  assert.isTrue(yield* Effect.isFailure(run(...line)), "the command has to fail")
  return (yield* TestConsole.errorLines).slice(before).map(String).join("\n")
})

const Link = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))

const under = (env: Record<string, string> = {}) =>
  Effect.provide(
    Layer.mergeAll(
      MemoryAccounts.layer,
      NodeServices.layer,
      ConfigProvider.layer(ConfigProvider.fromUnknown({ PUBLIC_URL: "https://api.example/", ...env }))
    )
  )

describe("accounts", () => {
  it.effect("creates members, and owners on request, once each", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      yield* run("create", "ada", "--name", "Ada L.", "--role", "owner")
      yield* run("create", "bob")
      assert.deepStrictEqual(
        (yield* accounts.list).map(({ id, name, role }) => [id, name, role]),
        [
          ["ada", "Ada L.", "owner"],
          ["bob", "bob", "member"]
        ]
      )
      assert.include(yield* refused("create", "ada"), "There is an account ada already.")
      for (const bad of [["../x"], ["x".repeat(65)], ["eve", "--role", "root"], ["eve", "--name", "a\u0007b"]]) {
        yield* refused("create", ...bad)
      }
      assert.lengthOf(yield* accounts.list, 2)
      assert.match(yield* printed("list"), /^ada {2}Ada L\. {2}owner {2}active/u)
    }).pipe(under())
  )

  it.effect("prints a link below the public URL that signs in once, with its token after the #", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      yield* run("create", "ada")
      const text = yield* printed("link", "ada")
      assert.match(text, /^https:\/\/api\.example\/sign-in#[0-9A-Za-z]{43}$/mu)
      const { url } = yield* Schema.decodeEffect(Link)(yield* printed("link", "ada", "--json"))
      const token = Redacted.make(new URL(url).hash.slice(1))
      assert.strictEqual((yield* accounts.redeem(token)).id, "ada")
      assert.strictEqual((yield* Effect.flip(accounts.redeem(token)))._tag, "LinkNotValid")
      assert.notInclude(yield* printed("list", "--json"), Redacted.value(token))
      assert.include(yield* refused("link", "none"), "There is no account none")
    }).pipe(under())
  )

  it.effect("ends sessions when an account is disabled, and accepts sign-ins again once it is enabled", () =>
    Effect.gen(function* () {
      const [accounts, sessions] = [yield* AccountStore, yield* SessionStore]
      yield* run("create", "ada")
      const secret = yield* sessions.open("ada")
      assert.include(yield* printed("disable", "ada"), "disabled")
      assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
      const link = yield* accounts.link("ada")
      assert.strictEqual((yield* Effect.flip(accounts.redeem(link)))._tag, "LinkNotValid")
      assert.include(yield* printed("enable", "ada"), "active")
      assert.strictEqual((yield* accounts.redeem(link)).id, "ada")
      assert.include(yield* refused("disable", "bob"), "There is no account bob")
    }).pipe(under())
  )
})
