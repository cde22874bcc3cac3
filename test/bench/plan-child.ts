/** One plan, measured: its folder and its API's answers come as arguments, the figures go out as JSON. */
import { readFileSync } from 'node:fs'
import { planWithForecast } from '../../src/analysis/index.ts'
import { tuneForOnePass } from '../../src/cli/one-pass.ts'
import { loadDefinitions, readLock } from '../../src/definitions/index.ts'
import { creatorsOf, kindsMentioned, readActual } from '../../src/live/index.ts'
import { planInside, wantedOf } from '../../src/operations/plan-inside.ts'
import { allPlans, renderPlanText, withInside } from '../../src/plan/index.ts'
import { BASE_URL, createBenchClient } from './plan-client.ts'

const [folder, answers] = [process.argv[2]!, process.argv[3]!]
tuneForOnePass('plan')
const client = createBenchClient(JSON.parse(readFileSync(answers, 'utf8')))
const steps: Record<string, number> = {}
// Reading what stands for the network is not planning.
let at = process.cpuUsage()
const begin = at
const step = (name: string) => {
  const { user, system } = process.cpuUsage(at)
  steps[name] = (user + system) / 1e6
  at = process.cpuUsage()
}
const { desired, diagnostics } = await loadDefinitions(folder, { env: {}, vars: {} })
if (!desired) throw new Error(diagnostics[0]!.message)
step('load')
const { lock } = await readLock(folder)
step('lock')
const subOrganizations = wantedOf(desired, lock)
const actual = await readActual(client, {
  mentioned: kindsMentioned(desired),
  ...(subOrganizations.length > 0 ? { subOrganizations } : {}),
})
const creators = await creatorsOf(client, actual, lock)
step('read')
const common = { baseUrl: BASE_URL, allow: [], now: new Date().toISOString() }
const own = planWithForecast({ ...common, desired, actual, lock, creators })
step('plan')
const place = { subOrganizationKeys: undefined }
const inside = await planInside({ ...common, desired, actual, oldLock: lock, lock: own.lock, creators, place, client })
const plan = withInside(own.plan, inside.plans, { reads: client.requests })
step('inside')
renderPlanText(plan)
const { user, system } = process.cpuUsage(begin)
// Not `resourceUsage().maxRSS`: of a process that was just forked, Linux counts in it what the parent had, here the bundler.
const [, peakKib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
const all = [desired, ...(desired.subOrganizations ?? [])]
console.log(
  JSON.stringify({
    cpuSeconds: (user + system) / 1e6,
    megabytes: Number(peakKib) / 1024,
    requests: client.requests,
    steps,
    resources: all.reduce((sum, { resources }) => sum + resources.length, 0),
    changes: allPlans(plan).reduce((sum, { changes }) => sum + changes.length, 0),
  }),
)
