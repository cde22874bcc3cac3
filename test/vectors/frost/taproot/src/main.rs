//! Makes vectors of FROST signatures with the crate `frost-secp256k1-tr`, for keys that are a sum of what operators share
//! and of one more key, the user's. Each signer's share of the key is divided by its Lagrange coefficient, so that the
//! crate, which multiplies by it, adds the parts up. Prints JSON by line: `cargo run --release > ../taproot.jsonl`.
use std::collections::BTreeMap;

use frost_secp256k1_tr as frost;
use frost::keys::{KeyPackage, PublicKeyPackage, SigningShare, VerifyingShare};
use frost::{Identifier, SigningPackage, VerifyingKey};
use k256::elliptic_curve::group::GroupEncoding;
use k256::elliptic_curve::{Field, PrimeField};
use k256::{ProjectivePoint, Scalar};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use serde_json::json;

fn lagrange(id: Scalar, ids: &[Scalar]) -> Scalar {
    ids.iter().filter(|other| **other != id).fold(Scalar::ONE, |product, other| {
        product * other * (*other - id).invert().unwrap()
    })
}

fn compressed(point: &ProjectivePoint) -> Vec<u8> {
    point.to_affine().to_bytes().to_vec()
}

fn main() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let cases: Vec<_> = (0..40)
        .map(|index| {
            let user = Identifier::derive(b"user").unwrap();
            let mut signers: Vec<Identifier> = vec![user];
            for operator in 1..=(1 + index % 5) as u16 {
                signers.push(Identifier::try_from(operator).unwrap());
            }
            let ids: Vec<Scalar> = signers.iter().map(|id| scalar(&id.serialize())).collect();
            let parts: Vec<Scalar> = signers.iter().map(|_| Scalar::random(&mut rng)).collect();
            let total: Scalar = parts.iter().sum();
            let verifying_key = VerifyingKey::deserialize(&compressed(&(ProjectivePoint::GENERATOR * total))).unwrap();
            let mut message = [0u8; 32];
            rng.fill_bytes(&mut message);

            let mut packages = Vec::new();
            let mut verifying_shares = BTreeMap::new();
            let mut nonces = Vec::new();
            let mut commitments = BTreeMap::new();
            for (position, signer) in signers.iter().enumerate() {
                let share = parts[position] * lagrange(ids[position], &ids).invert().unwrap();
                let signing_share = SigningShare::deserialize(&share.to_bytes()).unwrap();
                let verifying_share = VerifyingShare::deserialize(&compressed(&(ProjectivePoint::GENERATOR * share))).unwrap();
                verifying_shares.insert(*signer, verifying_share);
                packages.push(KeyPackage::new(*signer, signing_share, verifying_share, verifying_key, signers.len() as u16));
                let (nonce, commitment) = frost::round1::commit(&signing_share, &mut rng);
                nonces.push(nonce);
                commitments.insert(*signer, commitment);
            }
            let signing_package = SigningPackage::new(commitments.clone(), &message);
            let mut shares = BTreeMap::new();
            for (position, signer) in signers.iter().enumerate() {
                let share = frost::round2::sign_with_tweak(&signing_package, &nonces[position], &packages[position], None).unwrap();
                shares.insert(*signer, share);
            }
            let public = PublicKeyPackage::new(verifying_shares, verifying_key, Some(signers.len() as u16));
            let signature = frost::aggregate_with_tweak(&signing_package, &shares, &public, None).unwrap();
            json!({
                "message": hex::encode(message),
                "verifyingKey": hex::encode(verifying_key.serialize().unwrap()),
                "userPrivateKey": hex::encode(parts[0].to_bytes()),
                "userNonces": {
                    "hiding": hex::encode(nonces[0].hiding().serialize()),
                    "binding": hex::encode(nonces[0].binding().serialize()),
                },
                "userCommitments": {
                    "hiding": hex::encode(nonces[0].commitments().hiding().serialize().unwrap()),
                    "binding": hex::encode(nonces[0].commitments().binding().serialize().unwrap()),
                },
                "userLagrange": hex::encode(lagrange(ids[0], &ids).to_bytes()),
                "userShare": hex::encode(shares[&user].serialize()),
                "operators": signers.iter().skip(1).map(|signer| json!({
                    "id": hex::encode(signer.serialize()),
                    "hiding": hex::encode(commitments[signer].hiding().serialize().unwrap()),
                    "binding": hex::encode(commitments[signer].binding().serialize().unwrap()),
                    "share": hex::encode(shares[signer].serialize()),
                })).collect::<Vec<_>>(),
                "signature": hex::encode(signature.serialize().unwrap()),
            })
        })
        .collect();
    let source = "made with the crate frost-secp256k1-tr 3.0.0 by taproot/src/main.rs";
    println!("{}", json!({ "source": source, "licence": "MIT OR Apache-2.0", "cases": cases.len() }));
    for case in cases {
        println!("{case}");
    }
}

fn scalar(bytes: &[u8]) -> Scalar {
    let bytes: [u8; 32] = bytes.try_into().unwrap();
    Scalar::from_repr(bytes.into()).unwrap()
}
