import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { checkVersion, versionedFiles, versionsIn, withRelease, withVersion } from "../../scripts/release/version.ts"

const read = (file: string): string => readFileSync(file, "utf8")

describe("a release", () => {
  it("finds one version in every file that holds it, and sets each", () => {
    const found = new Set(versionedFiles.flatMap((file) => versionsIn(file, read(file))))
    assert.strictEqual(found.size, 1)
    for (const file of versionedFiles) {
      const before = versionsIn(file, read(file))
      assert.isNotEmpty(before, file)
      const after = withVersion(file, read(file), "9.8.7-rc.1")
      assert.deepStrictEqual(
        versionsIn(file, after),
        before.map(() => "9.8.7-rc.1")
      )
      const [own = ""] = found
      assert.strictEqual(withVersion(file, after, own), read(file))
    }
    assert.throws(() => withVersion("src/app/version.ts", "", "1.0.0"), "holds no version")
  })

  it.each(["1", "1.2", "v1.2.3", "1.2.3 ", "latest", ""])("refuses the version %s", (version) => {
    assert.throws(() => checkVersion(version), "is no version")
  })

  it("moves what is unreleased under its version, and leaves room for more", () => {
    const { changelog, notes } = withRelease(
      "# C\n\n## Unreleased\n\n- a\n- b\n\n## 0.1.0 (day)\n\n- c\n",
      "0.2.0",
      "2026-01-02"
    )
    assert.strictEqual(notes, "- a\n- b\n")
    assert.strictEqual(
      changelog,
      "# C\n\n## Unreleased\n\n## 0.2.0 (2026-01-02)\n\n- a\n- b\n\n## 0.1.0 (day)\n\n- c\n"
    )
    assert.throws(() => withRelease(changelog, "0.3.0", "2026-01-03"), "nothing under Unreleased")
    assert.throws(() => withRelease(changelog, "0.2.0", "2026-01-03"), "has 0.2.0 already")
    assert.isAbove(withRelease(read("CHANGELOG.md"), "999.0.0", "2026-01-02").notes.length, 100)
  })
})
