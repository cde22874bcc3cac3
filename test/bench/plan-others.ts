/** The question that the plan bench puts to quorate, put to others: so many things, the same on both sides. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** OctoDNS, which plans DNS records, where pip can install it; below a folder of the caller's. */
export function benchOctodns(sizes: readonly number[], folder: string): void {
  const venv = join(folder, 'venv')
  const commands = [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin/pip'), 'install', '-q', 'octodns'],
  ]
  if (!commands.every(([command, ...args]) => spawnSync(command!, args, { stdio: 'ignore' }).status === 0)) {
    console.log('skipped: OctoDNS (python3 and pip cannot install it here)')
    return
  }
  for (const size of sizes) {
    const here = join(folder, `dns-${size}`)
    for (const side of ['source', 'target']) {
      mkdirSync(join(here, side), { recursive: true })
      const records = Array.from(
        { length: size },
        (_, n) => `r${String(n).padStart(6, '0')}:\n  type: A\n  value: 10.${n >> 16}.${(n >> 8) & 255}.${n & 255}\n`,
      )
      writeFileSync(join(here, side, 'acme.test.yaml'), `---\n${records.join('')}`)
    }
    const provider = (side: string) =>
      `  ${side}: { class: octodns.provider.yaml.YamlProvider, directory: ${join(here, side)} }\n`
    writeFileSync(
      join(here, 'config.yaml'),
      `providers:\n${provider('source')}${provider('target')}zones:\n  acme.test.: { sources: [source], targets: [target] }\n`,
    )
    report('OctoDNS', size, [join(venv, 'bin/octodns-sync'), `--config-file=${join(here, 'config.yaml')}`], here)
  }
}

/** OpenTofu, with resources that live in its state alone, where `tofu` is on the PATH or in Go's folder of programs. */
export function benchOpenTofu(sizes: readonly number[], folder: string): void {
  const installed = join(process.env['GOPATH'] ?? join(homedir(), 'go'), 'bin/tofu')
  const tofu = existsSync(installed) ? installed : 'tofu'
  if (spawnSync(tofu, ['version'], { stdio: 'ignore' }).status !== 0) {
    console.log('skipped: OpenTofu (no `tofu` on the PATH or in GOPATH/bin)')
    return
  }
  for (const size of sizes) {
    const here = join(folder, `tofu-${size}`)
    mkdirSync(here)
    const names = Array.from({ length: size }, (_, n) => `r${n}`)
    writeFileSync(
      join(here, 'main.tf'),
      names.map((name) => `resource "terraform_data" "${name}" {\n  input = "value of ${name}"\n}\n`).join(''),
    )
    const resources = names.map((name) => ({
      mode: 'managed',
      type: 'terraform_data',
      name,
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ schema_version: 0, attributes: stateOf(name), sensitive_attributes: [] }],
    }))
    const state = { version: 4, terraform_version: '1.6.0', serial: 1, lineage: 'bench', outputs: {}, resources }
    writeFileSync(join(here, 'terraform.tfstate'), JSON.stringify(state))
    if (spawnSync(tofu, ['init'], { cwd: here, stdio: 'ignore' }).status !== 0) {
      console.log('skipped: OpenTofu (`tofu init` fails)')
      return
    }
    // With this option, 0 says that there is nothing to do, and 2 that there is.
    report('OpenTofu', size, [tofu, 'plan', '-detailed-exitcode', '-input=false'], here)
  }
}

function stateOf(name: string) {
  const value = { value: `value of ${name}`, type: 'string' }
  return { id: name, input: value, output: value, triggers_replace: null }
}

const USAGE = `import resource,subprocess,sys
r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL).returncode
u=resource.getrusage(resource.RUSAGE_CHILDREN)
print(r,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)`

/** Runs a command and prints what it took; Node does not tell what a child used. */
function report(name: string, size: number, command: readonly string[], cwd: string): void {
  const child = spawnSync('python3', ['-c', USAGE, ...command], { encoding: 'utf8', cwd })
  const [status, seconds, megabytes] = (child.stdout ?? '').trim().split(' ').map(Number)
  if (status !== 0 || seconds === undefined || megabytes === undefined) {
    console.log(`skipped: ${name} at ${size} fails`)
    return
  }
  console.log(
    `${String(size).padStart(9)}  ${seconds.toFixed(2).padStart(6)} ${megabytes.toFixed(0).padStart(4)}   ${name}`,
  )
}
