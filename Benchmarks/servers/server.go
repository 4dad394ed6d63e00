// SPDX-License-Identifier: Apache-2.0
//
// The server in Go: the standard library, patches written by hand. Usage: server PORT | server stdio.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"sort"
	"strconv"
)

type todo struct {
	Completed bool   `json:"completed"`
	ID        string `json:"id"`
	Title     string `json:"title"`
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

type input struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Input  input `json:"input"`
		Config struct {
			Memory struct {
				Count int `json:"count"`
			} `json:"memory"`
		} `json:"config"`
	} `json:"params"`
}

// The members of these types are in the order of RFC 8785, so that a digest needs no sorting.
type content struct {
	Todos []*todo `json:"todos"`
	Type  string  `json:"type"`
}

type loading struct {
	Type string `json:"type"`
}

type changed struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  struct {
		Store    string          `json:"store"`
		Base     int             `json:"base"`
		Revision int             `json:"revision"`
		Patch    []operation     `json:"patch"`
		Applied  json.RawMessage `json:"applied"`
	} `json:"params"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type sent struct {
	Revision int  `json:"revision"`
	Changed  bool `json:"changed"`
}

type opened struct {
	Revision int `json:"revision"`
}

type subscribed struct {
	Revision int `json:"revision"`
	State    any `json:"state"`
}

type stated struct {
	subscribed
	Digest uint32 `json:"digest"`
}

// The one store of a connection.
type service struct {
	todos                   []*todo
	made, revision          int
	isContent, isSubscribed bool
	out                     *json.Encoder
}

func (s *service) append(title string) *todo {
	s.made++
	made := &todo{ID: strconv.Itoa(s.made), Title: title}
	s.todos = append(s.todos, made)
	return made
}

// Returns the index of a todo, or -1. Ids increase, because todos never move.
func (s *service) place(id string) int {
	wanted, _ := strconv.Atoi(id)
	place := sort.Search(len(s.todos), func(at int) bool {
		number, _ := strconv.Atoi(s.todos[at].ID)
		return number >= wanted
	})
	if place < len(s.todos) && s.todos[place].ID == id {
		return place
	}
	return -1
}

func (s *service) state() any {
	if !s.isContent {
		return loading{"loading"}
	}
	return content{s.todos, "content"}
}

// Carries out an input and returns the operations of its update.
func (s *service) change(in input) []operation {
	switch in.Type {
	case "todoAdded":
		made := s.append(in.Title)
		return []operation{{"add", "/todos/" + strconv.Itoa(len(s.todos)-1), made}}
	case "stateRequested":
		if s.isContent {
			return nil
		}
		s.isContent = true
		return []operation{{"replace", "", s.state()}}
	}
	place := s.place(in.ID)
	if place < 0 {
		return nil
	}
	path := "/todos/" + strconv.Itoa(place)
	if in.Type == "todoRemoved" {
		s.todos = append(s.todos[:place], s.todos[place+1:]...)
		return []operation{{Op: "remove", Path: path}}
	}
	s.todos[place].Title = in.Title
	return []operation{{"replace", path + "/title", in.Title}}
}

func (s *service) send(r *request) sent {
	patch := s.change(r.Params.Input)
	if len(patch) > 0 {
		s.revision++
		if s.isSubscribed {
			update := changed{JSONRPC: "2.0", Method: "store/changed"}
			update.Params.Store = "todo"
			update.Params.Base = s.revision - 1
			update.Params.Revision = s.revision
			update.Params.Patch = patch
			update.Params.Applied = r.ID
			s.out.Encode(&update)
		}
	}
	return sent{s.revision, len(patch) > 0}
}

func (s *service) take(line []byte) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		s.out.Encode(&response{JSONRPC: "2.0", ID: json.RawMessage("null"), Error: &failure{-32700, err.Error()}})
		return
	}
	done := response{JSONRPC: "2.0", ID: r.ID}
	switch r.Method {
	case "store/send":
		done.Result = s.send(&r)
	case "store/open":
		for number := 1; number <= r.Params.Config.Memory.Count; number++ {
			s.append(fmt.Sprintf("Todo %d", number))
		}
		done.Result = opened{0}
	case "store/subscribe":
		s.isSubscribed = true
		done.Result = subscribed{s.revision, s.state()}
	case "store/state":
		text, _ := json.Marshal(s.state())
		done.Result = stated{subscribed{s.revision, s.state()}, crc32.ChecksumIEEE(text)}
	default:
		done.Error = &failure{-32601, "no such method"}
	}
	s.out.Encode(&done)
}

// Serves one connection with one write per turn.
func serve(from io.Reader, to io.Writer) {
	reader, writer := bufio.NewReaderSize(from, 1<<16), bufio.NewWriterSize(to, 1<<16)
	s := &service{out: json.NewEncoder(writer)}
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		s.take(line)
		if reader.Buffered() == 0 {
			writer.Flush()
		}
	}
}

func main() {
	if os.Args[1] == "stdio" {
		serve(os.Stdin, os.Stdout)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		connection, err := listener.Accept()
		if err == nil {
			go serve(connection, connection)
		}
	}
}
