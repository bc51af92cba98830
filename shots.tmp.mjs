import { chromium } from "playwright-core"
import { readFileSync } from "node:fs"
const ready = JSON.parse(readFileSync("/tmp/webmarket/ready.json"))
const { baseUrl: url, link, mints } = ready
const body = JSON.stringify({ token: link.split("#")[1] })
let cookie
try { cookie = readFileSync("/tmp/webmarket/cookie", "utf8") } catch {}
const check = cookie && await (await fetch(url + "/app/session", { headers: { cookie } })).json()
if (!check?.account) {
  const r = await fetch(url + "/app/session", { method: "POST", headers: { "content-type": "application/json", origin: url }, body })
  cookie = r.headers.get("set-cookie").split(";")[0]
  ;(await import("node:fs")).writeFileSync("/tmp/webmarket/cookie", cookie)
}
const [name, value] = cookie.split("=")
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] })
const want = process.argv.slice(2)
for (const [label, path] of [["home", "/"], ["token", "/t/" + mints[1]], ["status", "/status"]]) {
  if (want.length && !want.includes(label)) continue
  for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 320]]) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } })
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    page.on("console", (m) => m.type() === "error" && console.log(label, scheme, width, "console", m.text()))
    page.on("pageerror", (e) => console.log(label, "error", e.message))
    await page.goto(url + path)
    await page.locator("main:not(:has(.loading)) h1").first().waitFor({ timeout: 20000 }).catch((e) => console.log(e.message))
    if (label === "token") {
      await page.getByRole("button", { name: "Quote", exact: true }).click()
      await page.getByRole("button", { name: "Check the exit" }).click()
      await page.waitForTimeout(1500)
    }
    const wide = await page.evaluate("document.documentElement.scrollWidth")
    if (wide > width) console.log(label, width, "is", wide)
    await page.screenshot({ path: `/tmp/webmarket/${label}-${scheme}-${width}.png`, fullPage: true })
    await context.close()
  }
}
await browser.close()
