package oidc

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// errSealed means that no key can decrypt a value.
var errSealed = errors.New("not encrypted with a known key")

// sealer encrypts and authenticates values with AES-256-GCM. The first key encrypts and all keys decrypt, so that keys
// can be rotated.
type sealer struct {
	keys []cipher.AEAD
}

func newSealer(keys [][]byte) (*sealer, error) {
	out := &sealer{}
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("create cipher of cookies: %w", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("create cipher of cookies: %w", err)
		}
		out.keys = append(out.keys, aead)
	}
	return out, nil
}

// seal encrypts a value for a purpose. open needs the same purpose.
func (s *sealer) seal(purpose string, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", purpose, err)
	}
	//nolint:gosec // NewGCMWithRandomNonce adds a random nonce
	sealed := s.keys[0].Seal(nil, nil, plain, []byte(purpose))
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

func (s *sealer) open(purpose, sealed string, value any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return errSealed
	}
	for _, key := range s.keys {
		if plain, err := key.Open(nil, nil, raw, []byte(purpose)); err == nil {
			return json.Unmarshal(plain, value)
		}
	}
	return errSealed
}
