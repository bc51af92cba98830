import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { App, axeFaults, isAvailable, schemes } from "./app.ts"

const bash = (text: string) => promisify(execFile)("bash", ["-c", text])

/** Clicks a button that copies, and returns the copied text. */
const copied = async (page: Page, button: string): Promise<string> => {
  await page.getByRole("button", { name: button }).click()
  await page.getByText("Copied", { exact: true }).waitFor()
  return page.evaluate<string>("navigator.clipboard.readText()")
}

/** Creates keys as the page would, and returns how many were created. */
const makeKeys = (page: Page, count: number): Promise<number> =>
  page.evaluate<number>(`(async () => {
    const { csrfToken } = await (await fetch("/app/session")).json()
    const headers = { "content-type": "application/json", "x-csrf-token": csrfToken }
    let made = 0
    for (let number = 0; number < ${count}; number++) {
      const body = JSON.stringify({ name: "filler " + number })
      made += (await fetch("/api/v1/account/keys", { method: "POST", headers, body })).status === 201 ? 1 : 0
    }
    return made
  })()`)

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "3 minutes", excludeTestServices: true })("the page of keys", (it) => {
    it.effect("leads from a sign-in link to a key with two scopes, used in a request of the reference", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
          const beganMs = performance.now()
          await page.evaluate(
            "addEventListener('click', ({ isTrusted }) => { if (isTrusted) { globalThis.clicks = (globalThis.clicks ?? 0) + 1 } }, true)"
          )
          await page.getByRole("button", { name: "Open my session" }).click()
          await page.locator(`a[href="/settings/developer"]`).click()
          await page.getByRole("button", { name: "New key" }).click()
          await page.getByLabel("Name").fill("first bot")
          await page.getByRole("checkbox", { name: "tracker.read" }).check()
          await page.getByRole("button", { name: "Create the key" }).click()
          const [exported = ""] = (await copied(page, "Copy the request")).split("\n")
          assert.match(exported, /^export KEY=svc_/u)
          await page.getByRole("link", { name: "To the reference" }).click()
          const request = await copied(page, "Copy the first request")
          const { stdout } = await bash(`${exported}\n${request.replace("curl ", "curl -s ")}`)
          assert.match(stdout, /"outAmount":"\d+"/u)
          const clicks = await page.evaluate<number>("clicks")
          const seconds = (performance.now() - beganMs) / 1000
          process.stderr.write(
            `From the link of a start to an answered request: ${clicks} clicks, ${seconds.toFixed(1)} s\n`
          )
          assert.isAtMost(clicks, 8)
          // The key has the second scope.
          const { stdout: report } = await bash(
            `${exported}\ncurl -s "${app.url}/api/v1/account/key" -H "Authorization: Bearer $KEY"`
          )
          assert.include(report, `"md.read","tracker.read"`)
        })
      })
    )

    it.effect("changes, rotates, switches off and revokes keys, and lists the changes", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit("/settings/developer")
        yield* Effect.promise(async () => {
          await makeKeys(page, 1)
          await page.reload()
          await page.getByRole("button", { name: "Edit filler 0" }).click()
          const dialog = page.getByRole("dialog")
          await dialog.getByLabel("Name").fill("<b>renamed</b>")
          await dialog.getByRole("checkbox", { name: "perps.read" }).check()
          await dialog.getByText("Addresses, plan and expiry").click()
          await dialog.getByLabel("Allowed addresses").fill("nonsense")
          await dialog.getByRole("button", { name: "Save" }).click()
          await dialog.locator("[aria-invalid=true]").waitFor()
          await dialog.getByLabel("Allowed addresses").fill("127.0.0.0/8")
          await dialog.getByRole("button", { name: "Save" }).click()
          await page.getByRole("heading", { name: "<b>renamed</b>" }).waitFor()
          await page.getByRole("button", { name: "Rotate <b>renamed</b>" }).click()
          await dialog.getByRole("button", { name: "Rotate" }).click()
          await page.getByRole("region", { name: "Secret", exact: true }).waitFor()
          assert.deepStrictEqual(await axeFaults(page), [])
          await page.getByRole("button", { name: "I have saved it" }).click()
          await page.getByRole("button", { name: "Switch off <b>renamed</b>" }).first().click()
          await page.getByText("switched off").waitFor()
          await page.getByRole("button", { name: "Revoke <b>renamed</b>" }).first().click()
          await dialog.getByRole("button", { name: "Revoke for good" }).click()
          await page.getByText("revoked", { exact: true }).waitFor()
          for (const change of ["create", "change", "rotate", "disable", "revoke"]) {
            await page.getByRole("cell", { name: change, exact: true }).first().waitFor()
          }
        })
      })
    )

    it.effect("shows usage by operation and day, of a key and of the app, and offers it as CSV", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit("/settings/developer")
        yield* Effect.promise(async () => {
          await makeKeys(page, 1)
          await page.reload()
          const usage = page.getByRole("region", { name: "Usage of the last 30 days" })
          await usage.getByRole("link", { name: "accountKeys.create" }).waitFor()
          await usage
            .getByRole("rowheader", { name: /^\d{4}-\d{2}-\d{2}$/u })
            .first()
            .waitFor()
          await usage.getByRole("img", { name: /Requests per day, at most/u }).waitFor()
          assert.deepStrictEqual(await axeFaults(page), [])
          // A key that was never used.
          await usage.getByLabel("Key").selectOption({ index: 2 })
          await usage.getByText("No requests in the last 30 days").waitFor()
          await usage.getByLabel("Key").selectOption({ label: "The app" })
          await usage.getByRole("link", { name: "accountKeys.create" }).waitFor()
          const [download] = await Promise.all([
            page.waitForEvent("download"),
            usage.getByRole("link", { name: "As CSV" }).click()
          ])
          assert.match(download.suggestedFilename(), /^usage-\d{4}-\d{2}-\d{2}-\d{4}-\d{2}-\d{2}\.csv$/u)
          const text = await readFile(await download.path(), "utf8")
          assert.match(text, /^day,keyId,keyName,operation,/u)
          assert.include(text, ",accountKeys.create,")
          assert.deepStrictEqual(complaints, [])
        })
      })
    )

    it.effect("explains the limit at the eleventh active key", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit("/settings/developer")
        yield* Effect.promise(async () => {
          await makeKeys(page, 11)
          await page.reload()
          await page.getByText(/active keys: revoke or switch off one/u).waitFor()
          await page.getByRole("button", { name: "New key" }).click()
          await page.getByRole("textbox", { name: "Name" }).fill("one more")
          await page.getByRole("button", { name: "Create the key" }).click()
          assert.match((await page.locator("form").getByRole("alert").textContent()) ?? "", /limit_reached/u)
        })
      })
    )

    it.effect.each(schemes)(
      "has no accessibility faults, %s",
      (scheme) =>
        Effect.gen(function* () {
          const app = yield* App
          const { page } = yield* app.visit("/settings/developer", { scheme })
          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "New key" }).click()
            assert.deepStrictEqual(await axeFaults(page), [])
          })
        }),
      180_000
    )
  })
})
