/** `npm run bench [name]`: runs one bench of the table, or all of them. */

/** Each loads only when asked for. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  access: () => import('./access.ts'),
  batch: () => import('./batch.ts'),
  lists: () => import('./lists.ts'),
  login: () => import('./login.ts'),
  plan: () => import('./plan.ts'),
  reconcile: () => import('./reconcile.ts'),
  policy: () => import('./policy.ts'),
  processes: () => import('./processes.ts'),
  scale: () => import('./scale.ts'),
  scenarios: () => import('./scenarios.ts'),
  sign: () => import('./sign.ts'),
  start: () => import('./start.ts'),
  stamp: () => import('./stamp.ts'),
  submit: () => import('./submit.ts'),
  testing: () => import('./testing.ts'),
  worst: () => import('./worst.ts'),
}

const asked = process.argv[2]
const names = asked === undefined ? Object.keys(BENCHES) : [asked]
for (const name of names) {
  if (!Object.hasOwn(BENCHES, name)) {
    console.error(`there is no bench \`${name}\`; there are: ${Object.keys(BENCHES).join(', ')}`)
    process.exit(2)
  }
  console.log(`# ${name}`)
  const { run } = await BENCHES[name]!()
  await run()
}
