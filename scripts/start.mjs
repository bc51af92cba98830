// Plain JavaScript, so that an old Node can read it and say what is missing.
if (Number(process.versions.node.split(".")[0]) >= 24) await import("../src/main.ts")
else
  process.stderr.write(
    "Fathom needs Node 24. `npm ci` brings one for most systems; otherwise install it from nodejs.org.\n"
  )
