/**
 * Makes a release from one version number: `npm run release -- 1.2.3 [FOLDER]`. Writes the version to every file that holds it
 * and the changelog, and to the folder (`release`) the package, the source, an SBOM (CycloneDX), the notes and SHA256SUMS.
 * Commits nothing and publishes nothing.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { checkVersion, versionedFiles, withRelease, withVersion } from "./release/version.ts"

const [version = "", folder = "release"] = process.argv.slice(2)
checkVersion(version)
const out = resolve(folder)
const root = new URL("..", import.meta.url).pathname
const run = (file: string, ...args: ReadonlyArray<string>) =>
  execFileSync(file, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "inherit"] })

// Everything is checked before anything is written.
const release = withRelease(
  readFileSync(join(root, "CHANGELOG.md"), "utf8"),
  version,
  new Date().toISOString().slice(0, 10)
)
const texts = versionedFiles.map((file) => [file, withVersion(file, readFileSync(join(root, file), "utf8"), version)])
for (const [file = "", text = ""] of [...texts, ["CHANGELOG.md", release.changelog]]) {
  writeFileSync(join(root, file), text)
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
// Its own scripts would start the service too.
run(process.execPath, join(root, "scripts/pack.ts"))
run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out)
// A commit of the files as they are now, which no branch names; without changes it is empty.
const author = ["-c", "user.name=release", "-c", "user.email=release@localhost"]
const tree = run("git", ...author, "stash", "create").trim() || "HEAD"
const source = `fathom-${version}`
run("git", "archive", `--prefix=${source}/`, "-o", join(out, `${source}-source.tar.gz`), tree)
writeFileSync(join(out, "sbom.cdx.json"), run("npm", "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"))
writeFileSync(join(out, "NOTES.md"), `# ${version}\n\n${release.notes}`)

const sums = readdirSync(out).map((name) => {
  const hash = createHash("sha256").update(readFileSync(join(out, name)))
  return `${hash.digest("hex")}  ${name}\n`
})
writeFileSync(join(out, "SHA256SUMS"), sums.join(""))
process.stdout.write(sums.join(""))
