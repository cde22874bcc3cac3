/** The benches by name; each loads only when asked for. */
export const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
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
