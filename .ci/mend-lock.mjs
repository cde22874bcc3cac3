// Completes package-lock.json after a dependency change: adds an entry for every optional platform binary
// that the registry in use did not offer, so that `npm ci` accepts the lock file everywhere.
// A package with platform binaries lists them in `optionalDependencies`; npm leaves out of the lock those it
// cannot fetch, and `npm ci` then reports each as missing. The entry needs no more than version, os and cpu:
// npm skips an optional package of another platform without asking for it.
// Run: node .ci/mend-lock.mjs
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const systems = {
  linux: 'linux',
  darwin: 'darwin',
  win32: 'win32',
  android: 'android',
  freebsd: 'freebsd',
  openharmony: 'openharmony',
  wasm32: undefined,
}
const processors = {
  x64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
  wasm32: 'wasm32',
}
let added = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    if (lock.packages[place] || lock.packages[`${path}/${place}`]) continue
    const words = name.split(/[-/]/)
    const os = words.find((word) => word in systems)
    const cpu = words.find((word) => word in processors)
    if (!os || !cpu) throw new Error(`${name}: cannot tell its platform from its name; add its lock entry by hand`)
    lock.packages[place] = { version, cpu: [processors[cpu]], dev: entry.dev, optional: true, os: [systems[os]] }
    added++
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} platform entries added`)
