// A receiver of deliveries in Go, with the standard library alone. Run: SIGNING_SECRET=whsec_… PORT=3000 go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var secret = []byte(os.Getenv("SIGNING_SECRET"))
var seen sync.Map // In production: a unique column in your database.

type delivery struct {
	ID     int64
	Type   string
	Source struct{ Name string }
	Data   struct{ ID int64 }
}

func verified(body []byte, header string) bool {
	t := ""
	parts := strings.Split(header, ",")
	for _, part := range parts {
		if strings.HasPrefix(part, "t=") {
			t = part[2:]
		}
	}
	at, err := strconv.ParseInt(t, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(t + "."))
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	for _, part := range parts {
		if strings.HasPrefix(part, "v1=") && hmac.Equal([]byte(part[3:]), expected) {
			return true
		}
	}
	return false
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20)) // The raw bytes: verify before parsing.
	if err != nil || !verified(body, r.Header.Get("X-Service-Signature")) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	// A batch has its deliveries in `events`, each as it would be alone.
	var message struct {
		delivery
		Events []delivery
	}
	if json.Unmarshal(body, &message) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	deliveries := []delivery{message.delivery}
	if message.Type == "events.received" {
		deliveries = message.Events
	}
	for _, one := range deliveries {
		if one.Type != "event.received" {
			continue
		}
		if _, again := seen.LoadOrStore(one.ID, true); !again {
			fmt.Printf("event %d of %s\n", one.Data.ID, one.Source.Name)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(secret) == 0 {
		fmt.Fprintln(os.Stderr, "Set SIGNING_SECRET: without it, anybody could sign.")
		os.Exit(1)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	panic(http.Serve(listener, http.HandlerFunc(receive)))
}
