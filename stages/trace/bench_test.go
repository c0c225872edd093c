package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchmarkRead reports megabytes a second of the text.
func benchmarkRead(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		t, err := Read("trace", bytes.NewReader(data), Source{})
		if err != nil {
			b.Fatal(err)
		}
		n = t.Len()
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkMooncake(b *testing.B) { benchmarkRead(b, recorded(b, "mooncake-conversation.jsonl")) }
func BenchmarkAzure(b *testing.B)    { benchmarkRead(b, recorded(b, "azure-2023-conversation.csv")) }

// Chats of 10 turns over blocks of 16 tokens, as long as those of a coding
// assistant.
func BenchmarkQwenBailian(b *testing.B) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, `{"chat_id": %d, "parent_chat_id": %d, "timestamp": %d.114, "input_length": %d, "output_length": 132, "type": "text", "turn": %d, "hash_ids": [`,
			i, i%10-1, i, 512*16, i%10+1)
		for j := range 512 {
			if j > 0 {
				text.WriteString(", ")
			}
			fmt.Fprint(&text, i/10*1000+j)
		}
		text.WriteString("]}\n")
	}
	benchmarkRead(b, []byte(text.String()))
}

func BenchmarkBurstGPT(b *testing.B) {
	text := []byte("Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	rand := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		text = fmt.Appendf(text, "%d.0,1722ac82-0a46-4bf0-aa08-%012d,43,GPT-4,%d,%d,1352,Conversation log\n", 19440110+i, i/4, 1+rand.IntN(4000), rand.IntN(900))
	}
	benchmarkRead(b, text)
}
