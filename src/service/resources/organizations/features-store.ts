import { storedList, type Transaction } from '../../store/index.ts'

export interface FeatureRow {
  organization_id: string
  name: string
  value: string
}

declare module '../../store/schema.ts' {
  interface Schema {
    features: FeatureRow
  }
}

export const featureList = storedList('features', ['value'])

/** Reads the features that are switched on, by name. */
export async function listFeatures(tx: Transaction, organizationId: string): Promise<FeatureRow[]> {
  return tx.selectFrom('features').selectAll().where('organization_id', '=', organizationId).orderBy('name').execute()
}

/** Switches a feature on; one that is on gets the new value. */
export async function upsertFeature(tx: Transaction, feature: FeatureRow): Promise<void> {
  await tx
    .insertInto('features')
    .values(feature)
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doUpdateSet({ value: feature.value }))
    .execute()
}

/** Switches features off. */
export async function deleteFeatures(tx: Transaction, organizationId: string, names: readonly string[]): Promise<void> {
  await tx.deleteFrom('features').where('organization_id', '=', organizationId).where('name', 'in', names).execute()
}
